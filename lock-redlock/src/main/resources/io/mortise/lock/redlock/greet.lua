-- What this master knows of itself, at each new connection. The first to see that it was not admitted in this life notes when.
-- KEYS: its state. ARGV: the run id of its process, the longest lease that the asker may ask for, in ms
-- Answers 1 or 0: it votes; 1 or 0: it did in an earlier life; since when that it does not is known, in µs; the longest lease of
--       all who asked, in ms; the time in µs
local run, longest = ARGV[1], tonumber(ARGV[2])
local state = redis.call('HMGET', KEYS[1], 'run', 'lease', 'seen', 'since')
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if tonumber(state[2] or 0) < longest then
  redis.call('HSET', KEYS[1], 'lease', ARGV[2])
else
  longest = tonumber(state[2])
end
local since = tonumber(state[4] or 0)
if state[1] ~= run and state[3] ~= run then
  since = now
  redis.call('HSET', KEYS[1], 'seen', run, 'since', string.format('%.0f', now))
end
return { state[1] == run and 1 or 0, state[1] and 1 or 0, since, longest, now }
