-- Deletes the grant and the queue entry of an attempt, and wakes the head of the queue if the lock is free. Safe to repeat;
-- also runs in quarantine.
-- ARGV: attempt id, '1' if the reply must contain the time
--       | to delete only the queue entry: a string that its owner record must contain
-- Returns 1 if the attempt had the grant, else 0; if the lock has a queue or the time was requested, also
--       1 if the attempt had a queue entry, else 0; the time; 1 if the script must run again since there are more dead queue
--       entries
local attempt, mark = ARGV[1], ARGV[3]
local value = redis.pcall('GET', grant_key)
if type(value) == 'table' then
  if not string.find(value.err, 'WRONGTYPE', 1, true) then
    return value
  end
  value = '' -- the key is not a string, so another application created it
end
local held = not mark and value and string.sub(value, 1, #attempt) == attempt
if held then
  redis.call('DEL', grant_key)
end
if redis.call('EXISTS', queue_key) == 0 then
  local was = held and 1 or 0
  return ARGV[2] == '1' and { was, 0, micros() } or was
end

