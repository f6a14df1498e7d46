-- Takes the lock away from exactly the grant with this value.
-- ARGV: the value as it was seen
-- Answers 1 or 0: it was there
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
