-- Release and withdrawal in one: removes the attempt's grant and queue entry, and serves the next attempt in the queue. Safe to
-- repeat.
-- ARGV: attempt id, '1' if the reply must contain the time, a string that the owner record must contain (optional)
-- Returns 1 if the attempt's grant existed, else 0. If there is a queue or the time is required, these values follow:
--       1 if the attempt was queued, else 0; the time; 1 if this must be run again, because the queue has more dead entries
local attempt, mark = ARGV[1], ARGV[3] or ''
local value = redis.pcall('GET', grant_key)
if type(value) == 'table' then
  if not string.find(value.err, 'WRONGTYPE', 1, true) then
    return value
  end
  value = '' -- a list or hash of another application
end
local held = value and string.sub(value, 1, #attempt) == attempt and string.find(value, mark, 1, true) ~= nil
if redis.call('EXISTS', queue_key) == 0 then
  if held then
    redis.call('DEL', grant_key)
  end
  local was = held and 1 or 0
  return ARGV[2] == '1' and { was, 0, micros() } or was
end

