-- Before all that votes, after shared/keys: the second key is the state of this master, a hash.
-- ARGV: the run id of the process that the asker was greeted by, the bucket of the lock's counter
-- Answers 'unadmitted' if this master may have forgotten what it voted for.
local state_key, run, bucket = counter_key, ARGV[1], ARGV[2]
local state = redis.call('HMGET', state_key, 'run', bucket)
if state[1] ~= run then
  return { 'unadmitted' }
end

local function is_of(attempt, value)
  return type(value) == 'string' and string.sub(value, 1, #attempt) == attempt
end

local function token_of(value)
  return tonumber(string.match(value, ' token=(%d+)$'))
end

local function count(token)
  redis.call('HSET', state_key, bucket, digits(token))
end

