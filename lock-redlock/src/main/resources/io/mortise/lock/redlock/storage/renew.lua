-- Extends the grants that still exist. Does not create missing grants: see recover_vote.
-- KEYS: the state of this master, the grants. ARGV: run id; for each grant its attempt id, its round and its lease in ms
-- Returns for each grant 1 if it was extended, 0 if the round does not have it: a vote of a lost round does not count, since a
--       late request may delete it | 'quarantined'
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then
  return { 'quarantined' }
end
local held = {}
for i = 2, #KEYS do
  local attempt, round, lease = unpack(ARGV, 3 * i - 4, 3 * i - 2)
  local value = redis.pcall('GET', KEYS[i])
  if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then
    return value -- an error does not mean that the grant is lost
  end
  local has = type(value) == 'string'
    and string.sub(value, 1, #attempt) == attempt
    and string.match(value, ' round=(%d+) token=%d+$') == round
  held[i - 1] = has and redis.call('PEXPIRE', KEYS[i], lease) or 0
end
return held
