-- The rest of acquire, for a lock that is busy or has a queue.

-- The lock is free but has a queue: the holder died, or a wake message is on its way.
local free_millis = WAKE_MICROS / 1000
if not value then
  local first, more_dead = first_live(now, attempt)
  if more_dead then
    free_millis = 1 -- the next request removes more of them
  elseif not first or first.attempt == attempt then
    leave(attempt)
    return grant()
  else
    local woken = tonumber(redis.call('HGET', entries_key, 'wake') or 0)
    if woken > now or now - woken >= WAKE_MICROS then
      grant_to(first, 1, now, now)
    end
  end
end

if channel ~= '' then
  if not redis.call('ZSCORE', queue_key, attempt) then
    local last = redis.call('ZRANGE', queue_key, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', queue_key, digits(math.max(now, tonumber(last or 0) + 1)), attempt)
  end
  local entry = channel .. ' ' .. lease .. ' ' .. digits(now + entry_ms * 1000) .. ' ' .. nonce .. ' ' .. record
  redis.call('HSET', entries_key, attempt, entry)
  -- An abandoned queue expires after its last entry.
  redis.call('PEXPIRE', queue_key, entry_ms * 2)
  redis.call('PEXPIRE', entries_key, entry_ms * 2)
end
local remaining = redis.call('PTTL', grant_key)
return { 'busy', remaining == -2 and free_millis or remaining, now }
