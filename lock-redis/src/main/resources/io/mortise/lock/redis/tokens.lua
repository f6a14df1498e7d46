-- Before all that grants or withdraws: the keys of one lock, the server's time, and tokens.
local grant_key, counter_key, queue_key, entries_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- Lua's numbers are doubles: tostring would round.
local function digits(number)
  return string.format('%.0f', number)
end

local function micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Above all before, also when the counter was lost: the clock has gone on since.
local function next_token(now)
  local token = digits(now)
  local last = tonumber(redis.call('GETSET', counter_key, token) or '') or 0
  if last < now then
    return token
  end
  token = digits(last + 1)
  redis.call('SET', counter_key, token)
  return token
end

local function is_of(value, attempt)
  return value and string.sub(value, 1, #attempt) == attempt
end

