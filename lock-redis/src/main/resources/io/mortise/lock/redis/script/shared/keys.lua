-- Before all that grants or withdraws: the keys of one lock, the server's time in µs, and a number's digits. A number that is
-- answered arrives whole: Lua's numbers are doubles, which hold whole µs for centuries.
local grant_key, counter_key, queue_key, entries_key = unpack(KEYS)

local function micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- tostring would round.
local function digits(number)
  return string.format('%.0f', number)
end

