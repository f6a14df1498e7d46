-- Withdrawal and release in one: nothing of this attempt is left, and the next one in the queue is served. Safe to repeat.
-- ARGV: attempt id, '1' if the time is asked for, what the owner's record must contain (may be left out)
-- Answers 1 or 0: its grant was there; where others stand in the queue or the time is asked for, after that
--       1 or 0: it was queued; the time; 1 if this is to be run again, as there are more dead ones in the queue
local attempt, mark = ARGV[1], ARGV[3] or ''
local value = redis.pcall('GET', grant_key)
if type(value) == 'table' then
  if not string.find(value.err, 'WRONGTYPE', 1, true) then
    return value
  end
  value = '' -- somebody's list or hash: not ours
end
local held = value and string.sub(value, 1, #attempt) == attempt and string.find(value, mark, 1, true) ~= nil
if redis.call('EXISTS', queue_key) == 0 then
  if held then
    redis.call('DEL', grant_key)
  end
  local was = held and 1 or 0
  return ARGV[2] == '1' and { was, 0, micros() } or was
end

