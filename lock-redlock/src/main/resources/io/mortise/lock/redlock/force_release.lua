-- Takes the lock away from exactly the grant whose value begins so.
-- ARGV: attempt id, or the whole value of another library's
-- Answers 1 or 0: it was there
local value = redis.pcall('GET', grant_key)
if type(value) ~= 'string' or string.sub(value, 1, #ARGV[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', grant_key)
if redis.call('EXISTS', queue_key) == 1 then
  spare_memory()
  wake_first(micros())
end
return 1
