-- Ends exactly the grant with this value.
-- ARGV: the grant's value as the operator saw it
-- Returns 1 if that grant existed, else 0
local value = redis.pcall('GET', grant_key)
if value ~= ARGV[1] then
  return { 0 }
end
if redis.call('EXISTS', queue_key) == 1 then
  spare_memory()
  hand_off(value, micros())
else
  redis.call('DEL', grant_key)
end
return { 1 }
