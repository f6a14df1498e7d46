-- Second part of acquire: the lock is held, perhaps by this attempt, or this attempt may be queued.
local value = redis.pcall('GET', grant_key)
if not value then
  redis.call('SET', grant_key, record .. ' token=' .. digits(token), 'PX', lease)
  count(token)
  leave(attempt)
  return token
end
if type(value) == 'table' then
  return value -- the key is not a string or must not be read: no vote, and a retry would not help
end
if is_of(attempt, value) then
  local voted = token_of(value)
  if round_of(record .. ' token=0') >= round_of(value) then
    redis.call('SET', grant_key, record .. ' token=' .. digits(voted), 'PX', lease)
  end
  leave(attempt) -- a late request of an earlier round may have got the vote while the attempt was queued
  return voted
end

local before = 0
if channel then
  enqueue(attempt, channel, lease, score, ttl, record, now)
  before = redis.call('ZRANK', queue_key, attempt)
end
local from = string.sub(value, 1, 1) == '~' and 2 or 1 -- a mark of shared/keep_grant, which some masters may not have yet
local holder = string.sub(value, from, from + #attempt - 1)
return { 'busy', math.max(redis.call('PTTL', grant_key), -1), holder, before, now }
