-- The queue of one lock: its entries, and which of their processes can still be told. Loaded by the scripts that need it.

-- Redis asks for memory before the first write alone, and this one needs none, as leave does not: a full server still hands off.
local function spare_memory()
  redis.call('HDEL', entries_key, '')
end

-- False if it was not queued.
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

-- At most so many dead entries are removed in one run, in steps of so many: the server serves nobody else meanwhile.
local MOST_DEAD, STEP = 1000, 100

-- The fields of an entry that is still valid and whose process listens, or is the asker; nil if it is dead.
local function live(attempt, now, asker, heard)
  local entry = redis.call('HGET', entries_key, attempt)
  local said, lease, until_micros, nonce, record = string.match(entry or '', '^(%S+) (%d+) (%d+) (%S+) (.*)$')
  if not said or tonumber(until_micros) <= now then
    return nil
  end
  local shard_channel = string.match(said, '^{s}(.+)$')
  local channel, sharded = shard_channel or said, shard_channel ~= nil
  if attempt ~= asker then
    if heard[said] == nil then
      heard[said] = is_heard(channel, sharded)
    end
    if not heard[said] then
      return nil
    end
  end
  return { attempt = attempt, channel = channel, sharded = sharded, lease = lease, nonce = nonce, record = record }
end

-- The first entry that is not dead; those before it are removed. Nil if none is left; nil and true if there were so many dead
-- ones that the rest is for the next run.
local function first_live(now, asker)
  local heard, dead_so_far, step = {}, 0, 1
  while dead_so_far < MOST_DEAD do
    local attempts = redis.call('ZRANGE', queue_key, 0, step - 1)
    if #attempts == 0 then
      redis.call('DEL', entries_key)
      return nil
    end
    local first, dead = nil, {}
    for _, attempt in ipairs(attempts) do
      first = live(attempt, now, asker, heard)
      if first then
        break
      end
      dead[#dead + 1] = attempt
    end
    if #dead > 0 then
      redis.call('ZREM', queue_key, unpack(dead))
      redis.call('HDEL', entries_key, 'wake', unpack(dead))
    end
    if first then
      return first
    end
    dead_so_far, step = dead_so_far + #dead, STEP
  end
  return nil, redis.call('EXISTS', queue_key) == 1
end

