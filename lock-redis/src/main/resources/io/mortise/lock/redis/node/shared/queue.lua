-- The queue of one lock: who stands in line, and who of them can still be told. After what needs no queue.

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

