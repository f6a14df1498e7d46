-- Deletes exactly the given grant, for an operator.
-- ARGV: the attempt id at the start of the grant's value, or the whole value of another library; '1' if it is an attempt id
-- Returns 1 if the grant existed, else 0
local value = redis.pcall('GET', grant_key)
local holder = value
if ARGV[2] == '1' and type(value) == 'string' then
  holder = string.sub(string.match(value, '^~?(.*)'), 1, #ARGV[1]) -- without the mark of shared/keep_grant
end
if holder ~= ARGV[1] then
  return 0
end
redis.call('DEL', grant_key)
if redis.call('EXISTS', queue_key) == 1 then
  spare_memory()
  wake_first(micros())
end
return 1
