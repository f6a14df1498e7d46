-- Withdrawal and release in one: nothing of this attempt is left, and the next one in line is served. Safe to repeat.
-- ARGV: attempt id, '1' if the time is asked for
-- Answers 1 or 0: its grant was there; 1 or 0: it stood in line; the time, or ''
local attempt = ARGV[1]
local value = redis.pcall('GET', grant_key)
if type(value) == 'table' then
  value = '' -- somebody's list or hash: not ours
end
local held = is_of(value, attempt)
if redis.call('EXISTS', queue_key) == 0 then
  if held then
    redis.call('DEL', grant_key)
  end
  return { held and 1 or 0, 0, ARGV[2] == '1' and digits(micros()) or '' }
end

