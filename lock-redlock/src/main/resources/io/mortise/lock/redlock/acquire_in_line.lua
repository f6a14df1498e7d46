-- The rest of acquire: it is busy, ours already, or this one may stand in line.
local value = redis.pcall('GET', grant_key)
if not value then
  redis.call('SET', grant_key, record .. ' token=' .. digits(token), 'PX', lease)
  count(token)
  leave(attempt)
  return token
end
if type(value) == 'table' then
  return value -- somebody's list or hash, or we may not read it: no vote, and nothing that waiting would change
end
if is_of(attempt, value) then
  redis.call('PEXPIRE', grant_key, lease)
  return token_of(value)
end

local before = 0
if channel then
  stand(attempt, channel, lease, score, stands, record, now)
  before = redis.call('ZRANK', queue_key, attempt)
end
return { 'busy', math.max(redis.call('PTTL', grant_key), -1), string.sub(value, 1, #attempt), before, now }
