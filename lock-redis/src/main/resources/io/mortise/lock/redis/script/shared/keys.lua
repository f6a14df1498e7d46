-- Starts every script that grants or withdraws: the keys of one lock, the server's time in µs, and the digits of a number.
-- Numbers in a reply are exact: Lua's numbers are doubles, which represent whole µs exactly for centuries.
local grant_key, counter_key, queue_key, entries_key = unpack(KEYS)

local function micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- tostring would round the number.
local function digits(number)
  return string.format('%.0f', number)
end

