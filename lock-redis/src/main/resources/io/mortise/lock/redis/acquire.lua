-- One attempt. Asked again by the same attempt id it answers the same grant.
-- ARGV: attempt id, owner record, lease in ms, not after this server time in µs, channel or '' for one that does not wait,
--       for how many ms a place in line stands without being asked for again
-- Answers 'granted', token, time | 'busy', ms to go (-1: unknown), time | 'late', time
local attempt, record, lease, not_after, channel, stands = unpack(ARGV)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', digits(now) } -- its sender has given it up, and may have withdrawn it
end

local function grant()
  local token = next_token(now)
  redis.call('SET', grant_key, record .. ' token=' .. token, 'PX', lease)
  return { 'granted', token, digits(now) }
end

if redis.call('EXISTS', grant_key, queue_key) == 0 then
  return grant()
end

local value = redis.call('GET', grant_key)
if is_of(value, attempt) then
  redis.call('PEXPIRE', grant_key, lease)
  return { 'granted', string.match(value, ' token=(%d+)'), digits(now) }
end

-- Free, but others stand in line: the holder died, or a wake is under way.
local awaited = false
while not value and not awaited do
  local first = first_live(now)
  if not first or first.attempt == attempt then
    leave(attempt)
    return grant()
  end
  local woken = tonumber(redis.call('HGET', entries_key, 'wake') or 0)
  awaited = (woken <= now and now - woken < WAKE_MICROS) or grant_to(first, 1, now, now)
end

if channel ~= '' then
  if not redis.call('ZSCORE', queue_key, attempt) then
    local last = redis.call('ZRANGE', queue_key, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', queue_key, digits(math.max(now, tonumber(last or 0) + 1)), attempt)
  end
  local entry = channel .. ' ' .. lease .. ' ' .. digits(now + stands * 1000) .. ' ' .. record
  redis.call('HSET', entries_key, attempt, entry)
  -- What nobody asks for any more goes by itself, later than the last place in it.
  redis.call('PEXPIRE', queue_key, stands * 2)
  redis.call('PEXPIRE', entries_key, stands * 2)
end
local left = redis.call('PTTL', grant_key)
return { 'busy', left == -2 and WAKE_MICROS / 1000 or left, digits(now) }
