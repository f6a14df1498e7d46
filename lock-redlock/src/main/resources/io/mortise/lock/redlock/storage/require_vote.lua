-- Ends a voting script early if this master is in quarantine; needs shared/keys. The second key is the state of this master, a
-- hash.
-- ARGV: the run id of this master in the client's handshake, the bucket of the lock's counter
-- Returns 'quarantined' if this master may have forgotten votes.
local state_key, run, bucket = counter_key, ARGV[1], ARGV[2]
local state = redis.call('HMGET', state_key, 'run', bucket)
if state[1] ~= run then
  return { 'quarantined' }
end

local function is_of(attempt, value)
  return type(value) == 'string' and string.sub(value, 1, #attempt) == attempt
end

-- Returns the round of the attempt that the vote belongs to. A vote ends with its round and its token.
local function round_of(value)
  return tonumber(string.match(value, ' round=(%d+) token=%d+$') or 0)
end

local function token_of(value)
  return tonumber(string.match(value, ' token=(%d+)$'))
end

local function count(token)
  redis.call('HSET', state_key, bucket, digits(token))
end

