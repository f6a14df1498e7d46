-- Extends what is still held. Makes nothing that is missing.
-- KEYS: the grants. ARGV: for each its attempt id and its lease in ms
-- Answers for each 1: held and extended, or 0: not ours any more
local held = {}
for i, grant_key in ipairs(KEYS) do
  local attempt, lease = ARGV[2 * i - 1], ARGV[2 * i]
  local whose = redis.pcall('GETRANGE', grant_key, 0, #attempt - 1)
  if type(whose) == 'table' and not string.find(whose.err, 'WRONGTYPE', 1, true) then
    return whose -- not to be known is not to be lost
  end
  held[i] = whose == attempt and redis.call('PEXPIRE', grant_key, lease) or 0
end
return held
