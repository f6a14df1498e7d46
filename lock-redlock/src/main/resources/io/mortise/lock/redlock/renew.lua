-- Extends what is still held. Makes nothing that is missing: see regain.
-- KEYS: the state of this master, the grants. ARGV: run id, for each grant its attempt id and its lease in ms
-- Answers for each 1: held and extended, or 0: not ours | 'unadmitted'
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then
  return { 'unadmitted' }
end
local held = {}
for i = 2, #KEYS do
  local attempt, lease = ARGV[2 * i - 2], ARGV[2 * i - 1]
  local whose = redis.pcall('GETRANGE', KEYS[i], 0, #attempt - 1)
  if type(whose) == 'table' and not string.find(whose.err, 'WRONGTYPE', 1, true) then
    return whose -- not to be known is not to be lost
  end
  held[i - 1] = whose == attempt and redis.call('PEXPIRE', KEYS[i], lease) or 0
end
return held
