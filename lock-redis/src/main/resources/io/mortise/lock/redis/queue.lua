-- The queue of one lock, and how it moves. After what needs no queue, and before what does.

-- So many grants in a row, or for so long, are handed on; then the lock is left free once, for who does not stand in line.
local ROW_GRANTS, ROW_MICROS = 16, 1000000
-- Whom a wake was sent to may come first for so long; then any other moves the queue on.
local WAKE_MICROS = 1000000

-- False if it did not stand in line.
local function leave(attempt)
  if redis.call('ZREM', queue_key, attempt) == 0 then
    return false
  end
  redis.call('HDEL', entries_key, attempt, 'wake')
  return true
end

-- The first in line whose entry still stands; those before it are gone.
local function first_live(now)
  while true do
    local attempt = redis.call('ZRANGE', queue_key, 0, 0)[1]
    if not attempt then
      redis.call('DEL', entries_key)
      return nil
    end
    local entry = redis.call('HGET', entries_key, attempt)
    if entry then
      local channel, lease, until_micros, record = string.match(entry, '^(%S+) (%d+) (%d+) (.*)$')
      if channel and tonumber(until_micros) > now then
        return { attempt = attempt, channel = channel, lease = lease, record = record }
      end
    end
    leave(attempt)
  end
end

-- False if no process listens there any more.
local function tell(first, message)
  local sharded = string.match(first.channel, '^{s}(.+)$')
  return redis.call(sharded and 'SPUBLISH' or 'PUBLISH', sharded or first.channel, message .. ' ' .. grant_key) > 0
end

-- Makes it the holder: first in the store, so that nobody is told of a grant that could not be written.
-- False if its process is gone, and with it its entry and the grant.
local function grant_to(first, number_in_row, row_since, now)
  local _, token = next_token(now)
  local row = ' row=' .. digits(number_in_row) .. ':' .. digits(row_since)
  redis.call('SET', grant_key, first.record .. ' token=' .. token .. row, 'PX', first.lease)
  leave(first.attempt)
  if tell(first, 'G ' .. first.attempt .. ' ' .. token .. ' ' .. digits(now)) then
    return true
  end
  redis.call('DEL', grant_key)
  return false
end

-- Leaves the lock free and lets it try first. False if its process is gone, and with it its entry.
local function wake(first, now)
  redis.call('DEL', grant_key)
  redis.call('HSET', entries_key, 'wake', digits(now))
  if tell(first, 'W ' .. first.attempt) then
    return true
  end
  leave(first.attempt)
  return false
end

-- Whoever holds the lock by this value no longer does: the next one in line does, or nobody.
local function hand_on(value, now)
  local count, since = string.match(value or '', ' row=(%d+):(%d+)$')
  count, since = tonumber(count or 0), tonumber(since or now)
  local row_is_over = count >= ROW_GRANTS or now - since >= ROW_MICROS
  while true do
    local first = first_live(now)
    if not first then
      redis.call('DEL', grant_key)
      return
    end
    if row_is_over then
      if wake(first, now) then
        return
      end
    elseif grant_to(first, count + 1, since, now) then
      return
    end
  end
end

