-- Adds queue entries and wakes the head of the queue; needs shared/queue. The head stays first until it gets the lock,
-- withdraws or expires.

-- A contender that was woken and has not sent a request within this time is removed from the queue.
local WAKE_MICROS = 1000000

local function enqueue(attempt, channel, lease, score, ttl, record, now)
  redis.call('ZADD', queue_key, 'NX', score, attempt)
  local entry = channel .. ' ' .. lease .. ' ' .. digits(now + ttl * 1000) .. ' - ' .. record
  redis.call('HSET', entries_key, attempt, entry)
  if string.sub(redis.call('HGET', entries_key, 'wake') or '', 1, #attempt) == attempt then
    redis.call('HDEL', entries_key, 'wake') -- the woken contender has sent its request
  end
  -- An abandoned queue expires after its last entry.
  redis.call('PEXPIRE', queue_key, ttl * 2)
  redis.call('PEXPIRE', entries_key, ttl * 2)
end

-- Sends the head of the queue a hint that the lock is free. Another contender may be faster, or may have the votes of other
-- masters.
-- Returns true if it found only dead entries and there may be more.
local function wake_first(now)
  while true do
    local first, more_dead = first_live(now)
    if not first then
      return more_dead
    end
    local woken, since = string.match(redis.call('HGET', entries_key, 'wake') or '', '^(%S+) (%d+)$')
    if woken ~= first.attempt then
      redis.call('HSET', entries_key, 'wake', first.attempt .. ' ' .. digits(now))
      tell(first, 'W ' .. first.attempt)
      return
    end
    if now - since < WAKE_MICROS then
      return -- it was woken, and still has time to send its request
    end
    leave(first.attempt)
  end
end

