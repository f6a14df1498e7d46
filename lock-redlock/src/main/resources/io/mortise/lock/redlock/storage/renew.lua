-- Extends the grants that still exist. Does not create missing grants: see recover_vote.
-- KEYS: the state of this master, the grants. ARGV: run id; for each grant its attempt id and its lease in ms
-- Returns for each grant 1 if it was extended, 0 if the attempt does not have it | 'quarantined'
if redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then
  return { 'quarantined' }
end
local held = {}
for i = 2, #KEYS do
  local attempt, lease = ARGV[2 * i - 2], ARGV[2 * i - 1]
  local holder = redis.pcall('GETRANGE', KEYS[i], 0, #attempt - 1)
  if type(holder) == 'table' and not string.find(holder.err, 'WRONGTYPE', 1, true) then
    return holder -- an error does not mean that the grant is lost
  end
  held[i - 1] = holder == attempt and redis.call('PEXPIRE', KEYS[i], lease) or 0
end
return held
