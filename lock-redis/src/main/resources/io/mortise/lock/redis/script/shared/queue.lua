-- The queue of one lock: its entries, and whether their processes can still receive messages. Used by the scripts that need it.

-- Redis checks its memory limit only before a script's first write. This write needs no memory, nor does leave, so a full
-- server still hands off.
local function spare_memory()
  redis.call('HDEL', entries_key, '')
end

-- Deletes the attempt's entry; returns false if it was not queued.
local function leave(attempt)
  if redis.call('ZREM', queue_key, attempt) == 0 then
    return false
  end
  redis.call('HDEL', entries_key, attempt, 'wake')
  return true
end

-- Returns whether the channel has a subscriber, which is checked before anything is published. The count in the reply of
-- PUBLISH comes too late to take back a message that others received from a replica or another cluster node. Only subscribers
-- of this server that name the channel count, since a tool that subscribes to patterns is not the waiting process.
local function has_subscriber(channel, sharded)
  return redis.call('PUBSUB', sharded and 'SHARDNUMSUB' or 'NUMSUB', channel)[2] > 0
end

local function tell(first, message)
  redis.call(first.sharded and 'SPUBLISH' or 'PUBLISH', first.channel, message .. ' ' .. grant_key)
end

-- The most dead entries that one run removes, and how many it removes at a time. The server serves no other client meanwhile.
local MOST_DEAD, STEP = 1000, 100

-- Returns the fields of an entry that is still valid and whose process is subscribed, or is the caller; nil if the entry is
-- dead.
local function live(attempt, now, caller, subscribed)
  local entry = redis.call('HGET', entries_key, attempt)
  local target, lease, until_micros, nonce, record = string.match(entry or '', '^(%S+) (%d+) (%d+) (%S+) (.*)$')
  if not target or tonumber(until_micros) <= now then
    return nil
  end
  local shard_channel = string.match(target, '^{s}(.+)$')
  local channel, sharded = shard_channel or target, shard_channel ~= nil
  if attempt ~= caller then
    if subscribed[target] == nil then
      subscribed[target] = has_subscriber(channel, sharded)
    end
    if not subscribed[target] then
      return nil
    end
  end
  return { attempt = attempt, channel = channel, sharded = sharded, lease = lease, nonce = nonce, record = record }
end

-- Returns the first entry that is not dead and removes those before it. Returns nil if there is no live entry, and nil and true
-- if there were so many dead ones that the next run must continue.
local function first_live(now, caller)
  local subscribed, dead_so_far, step = {}, 0, 1
  while dead_so_far < MOST_DEAD do
    local attempts = redis.call('ZRANGE', queue_key, 0, step - 1)
    if #attempts == 0 then
      redis.call('DEL', entries_key)
      return nil
    end
    local first, dead = nil, {}
    for _, attempt in ipairs(attempts) do
      first = live(attempt, now, caller, subscribed)
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

