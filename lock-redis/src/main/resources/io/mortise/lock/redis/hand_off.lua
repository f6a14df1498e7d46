-- How the queue moves. After what needs no queue, and before what does.

-- So many grants in a row, or for so long, are handed off; then the lock is left free once, for who does not stand in the queue.
local ROW_GRANTS, ROW_MICROS = 16, 1000000
-- Whom a wake was sent to may come first for so long; then any other moves the queue on.
local WAKE_MICROS = 1000000

-- Whoever may publish on its channel can forge a message, but not the signature: only scripts see the nonce, and none answers it.
local function tell_signed(first, said)
  tell(first, said .. ' ' .. redis.sha1hex(first.nonce .. said .. ' ' .. grant_key .. first.nonce))
end

-- Makes it the holder: first in the store, so that nobody is told of a grant that could not be written.
local function grant_to(first, number_in_row, row_since, now)
  local _, token = next_token(now)
  local row = ' row=' .. digits(number_in_row) .. ':' .. digits(row_since)
  redis.call('SET', grant_key, first.record .. ' token=' .. token .. row, 'PX', first.lease)
  leave(first.attempt)
  tell_signed(first, 'G ' .. first.attempt .. ' ' .. token .. ' ' .. digits(now))
end

-- Leaves the lock free and lets it try first.
local function wake(first, now)
  redis.call('DEL', grant_key)
  redis.call('HSET', entries_key, 'wake', digits(now))
  tell_signed(first, 'W ' .. first.attempt)
end

-- Whoever holds the lock by this value no longer does: the next one in the queue does, or nobody. True: nobody yet, for there are more
-- dead ones.
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

