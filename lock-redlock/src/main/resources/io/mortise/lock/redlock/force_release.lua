-- Takes the lock away from exactly that grant.
-- ARGV: the attempt id, with which its value begins, or the whole value of another library's; '1' if it is an attempt id
-- Answers 1 or 0: it was there
local value = redis.pcall('GET', grant_key)
local whose = ARGV[2] == '1' and type(value) == 'string' and string.sub(value, 1, #ARGV[1]) or value
if whose ~= ARGV[1] then
  return 0
end
redis.call('DEL', grant_key)
if redis.call('EXISTS', queue_key) == 1 then
  spare_memory()
  wake_first(micros())
end
return 1
