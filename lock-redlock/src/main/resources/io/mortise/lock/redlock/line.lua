-- Places in line, after shared/queue: whoever is first is woken, and stays first until it has the lock, leaves or is gone.

-- Who has not come so long after it was woken does not keep the others waiting.
local WAKE_MICROS = 1000000

local function stand(attempt, channel, lease, score, stands, record, now)
  redis.call('ZADD', queue_key, 'NX', score, attempt)
  local entry = channel .. ' ' .. lease .. ' ' .. digits(now + stands * 1000) .. ' - ' .. record
  redis.call('HSET', entries_key, attempt, entry)
  if string.sub(redis.call('HGET', entries_key, 'wake') or '', 1, #attempt) == attempt then
    redis.call('HDEL', entries_key, 'wake') -- it has come
  end
  -- What nobody asks for any more goes by itself, later than the last place in it.
  redis.call('PEXPIRE', queue_key, stands * 2)
  redis.call('PEXPIRE', entries_key, stands * 2)
end

-- The lock is free: a hint to the first in line. Anybody else may be faster, or have the other masters. True: to nobody yet, for
-- there are more dead ones.
local function wake_first(now)
  while true do
    local first, more_dead = first_live(now)
    if not first then
      return more_dead
    end
    local whom, since = string.match(redis.call('HGET', entries_key, 'wake') or '', '^(%S+) (%d+)$')
    if whom ~= first.attempt then
      redis.call('HSET', entries_key, 'wake', first.attempt .. ' ' .. digits(now))
      tell(first, 'W ' .. first.attempt)
      return
    end
    if now - since < WAKE_MICROS then
      return -- it has been told, and will come
    end
    leave(first.attempt)
  end
end

