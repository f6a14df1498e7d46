-- Rest of acquire if the lock is held, is held by this attempt already, or this attempt may be queued.
local value = redis.pcall('GET', grant_key)
if not value then
  redis.call('SET', grant_key, record .. ' token=' .. digits(token), 'PX', lease)
  count(token)
  leave(attempt)
  return token
end
if type(value) == 'table' then
  return value -- a foreign list or hash, or no permission to read: no vote, and waiting would not help
end
if is_of(attempt, value) then
  redis.call('PEXPIRE', grant_key, lease)
  return token_of(value)
end

local before = 0
if channel then
  enqueue(attempt, channel, lease, score, ttl, record, now)
  before = redis.call('ZRANK', queue_key, attempt)
end
return { 'busy', math.max(redis.call('PTTL', grant_key), -1), string.sub(value, 1, #attempt), before, now }
