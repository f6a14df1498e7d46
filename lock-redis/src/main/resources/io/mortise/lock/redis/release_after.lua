-- Lets the attempt's grant expire after a delay, whatever its lease was. Never creates a grant. Safe to repeat.
-- ARGV: attempt id, delay in ms
-- Returns 1 if the grant belongs to the attempt, else 0; the time
local attempt, delay = ARGV[1], ARGV[2]
local whose = redis.pcall('GETRANGE', grant_key, 0, #attempt - 1)
if type(whose) == 'table' and not string.find(whose.err, 'WRONGTYPE', 1, true) then
  return whose -- an error means that the state is unknown, not that the grant is lost
end
return { whose == attempt and redis.call('PEXPIRE', grant_key, delay) or 0, micros() }
