-- Extends what is still held. Makes nothing that is missing.
-- KEYS: the grants. ARGV: for each its attempt id and its lease in ms
-- Answers for each 1: held and extended, or 0: not ours any more
local held = {}
for i, grant_key in ipairs(KEYS) do
  local attempt, lease = ARGV[2 * i - 1], ARGV[2 * i]
  local value = redis.pcall('GET', grant_key)
  if type(value) == 'string' and string.sub(value, 1, #attempt) == attempt then
    held[i] = redis.call('PEXPIRE', grant_key, lease)
  else
    held[i] = 0
  end
end
return held
