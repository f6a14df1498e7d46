-- Functions that hand the lock off to the queue. Placed after the code that needs no queue, and before the code that does.

-- After this many hand-offs in a row, or this much time, the lock is left free once, for clients that do not queue.
local ROW_GRANTS, ROW_MICROS = 16, 1000000
-- How long the attempt that was woken may come first. After that any request hands the lock off to the queue.
local WAKE_MICROS = 1000000

-- A client that may publish on the channel can forge a message, but not its signature: only scripts read the nonce, and none
-- returns it.
local function publish_signed(first, message)
  tell(first, message .. ' ' .. redis.sha1hex(first.nonce .. message .. ' ' .. grant_key .. first.nonce))
end

-- Grants the lock to the entry. The grant is written before the message, so that no client is notified of a failed write.
local function grant_to(first, number_in_row, row_since, now)
  local _, token = next_token(now)
  local row = ' row=' .. digits(number_in_row) .. ':' .. digits(row_since)
  redis.call('SET', grant_key, first.record .. ' token=' .. token .. row, 'PX', first.lease)
  leave(first.attempt)
  publish_signed(first, 'G ' .. first.attempt .. ' ' .. token .. ' ' .. digits(now))
end

-- Leaves the lock free and lets the entry's attempt try first.
local function wake(first, now)
  redis.call('DEL', grant_key)
  redis.call('HSET', entries_key, 'wake', digits(now))
  publish_signed(first, 'W ' .. first.attempt)
end

-- Ends the grant with this value and hands the lock off to the next live entry, if there is one. Returns true if this must be
-- run again, because there are more dead entries.
local function hand_off(value, now)
  local first, more_dead = first_live(now)
  if not first then
    redis.call('DEL', grant_key)
    return more_dead
  end
  local count, since = string.match(value or '', ' row=(%d+):(%d+)$')
  count, since = tonumber(count or 0), tonumber(since or now)
  if count >= ROW_GRANTS or now - since >= ROW_MICROS then
    wake(first, now)
  else
    grant_to(first, count + 1, since, now)
  end
end

