-- The queue of one lock, and how it moves. After what needs no queue, and before what does.

-- So many grants in a row, or for so long, are handed on; then the lock is left free once, for who does not stand in line.
local ROW_GRANTS, ROW_MICROS = 16, 1000000
-- Whom a wake was sent to may come first for so long; then any other moves the queue on.
local WAKE_MICROS = 1000000

-- Redis asks for memory before the first write alone, and this one needs none, as leave does not: a full server still hands on.
local function spare_memory()
  redis.call('HDEL', entries_key, '')
end

-- False if it did not stand in line.
local function leave(attempt)
  if redis.call('ZREM', queue_key, attempt) == 0 then
    return false
  end
  redis.call('HDEL', entries_key, attempt, 'wake')
  return true
end

-- Asked before anything is published: the count that PUBLISH answers comes too late to take back what was heard elsewhere,
-- on a replica or another node of a cluster. Here those count who get it from this server by name: a tool that
-- listens to patterns is not the process.
local function is_heard(channel, sharded)
  return redis.call('PUBSUB', sharded and 'SHARDNUMSUB' or 'NUMSUB', channel)[2] > 0
end

local function tell(first, message)
  redis.call(first.sharded and 'SPUBLISH' or 'PUBLISH', first.channel, message .. ' ' .. grant_key)
end

-- The first in line whose entry still stands, and whose process listens or is the one that asks; those before it are gone.
local function first_live(now, asker)
  while true do
    local attempt = redis.call('ZRANGE', queue_key, 0, 0)[1]
    if not attempt then
      redis.call('DEL', entries_key)
      return nil
    end
    local entry = redis.call('HGET', entries_key, attempt)
    if entry then
      local said, lease, until_micros, record = string.match(entry, '^(%S+) (%d+) (%d+) (.*)$')
      if said and tonumber(until_micros) > now then
        local shard_channel = string.match(said, '^{s}(.+)$')
        local channel, sharded = shard_channel or said, shard_channel ~= nil
        if attempt == asker or is_heard(channel, sharded) then
          return { attempt = attempt, channel = channel, sharded = sharded, lease = lease, record = record }
        end
      end
    end
    leave(attempt)
  end
end

-- Makes it the holder: first in the store, so that nobody is told of a grant that could not be written.
local function grant_to(first, number_in_row, row_since, now)
  local _, token = next_token(now)
  local row = ' row=' .. digits(number_in_row) .. ':' .. digits(row_since)
  redis.call('SET', grant_key, first.record .. ' token=' .. token .. row, 'PX', first.lease)
  leave(first.attempt)
  tell(first, 'G ' .. first.attempt .. ' ' .. token .. ' ' .. digits(now))
end

-- Leaves the lock free and lets it try first.
local function wake(first, now)
  redis.call('DEL', grant_key)
  redis.call('HSET', entries_key, 'wake', digits(now))
  tell(first, 'W ' .. first.attempt)
end

-- Whoever holds the lock by this value no longer does: the next one in line does, or nobody.
local function hand_on(value, now)
  local first = first_live(now)
  if not first then
    redis.call('DEL', grant_key)
    return
  end
  local count, since = string.match(value or '', ' row=(%d+):(%d+)$')
  count, since = tonumber(count or 0), tonumber(since or now)
  if count >= ROW_GRANTS or now - since >= ROW_MICROS then
    wake(first, now)
  else
    grant_to(first, count + 1, since, now)
  end
end

