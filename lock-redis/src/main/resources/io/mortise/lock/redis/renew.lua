-- Extends grants that still exist. Never creates a grant.
-- KEYS: the grants. ARGV: for each grant its attempt id and its lease in ms
-- Returns for each grant 1 if it was extended, or 0 if it no longer belongs to the attempt
local held = {}
for i, grant_key in ipairs(KEYS) do
  local attempt, lease = ARGV[2 * i - 1], ARGV[2 * i]
  local whose = redis.pcall('GETRANGE', grant_key, 0, #attempt - 1)
  if type(whose) == 'table' and not string.find(whose.err, 'WRONGTYPE', 1, true) then
    return whose -- an error means that the state is unknown, not that the grant is lost
  end
  held[i] = whose == attempt and redis.call('PEXPIRE', grant_key, lease) or 0
end
return held
