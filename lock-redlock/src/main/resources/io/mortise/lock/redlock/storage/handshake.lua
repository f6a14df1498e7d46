-- Returns the quarantine state of this master, at each new connection. The first client that sees it in quarantine stores the time.
-- KEYS: its state. ARGV: the run id of its process, the longest lease in ms of a client for which a majority has voted before, else '0'
-- Returns 1 or 0: it votes; 1 or 0: it has ever voted; since when it is known to be in quarantine, in µs; the longest lease in ms,
--       0: unknown; the time in µs
local run, max_lease = ARGV[1], ARGV[2]
local state = redis.call('HMGET', KEYS[1], 'run', 'maxLease', 'seen', 'since')
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if not state[2] and max_lease ~= '0' then
  redis.call('HSET', KEYS[1], 'maxLease', max_lease) -- it has forgotten the value, and the client knows it
  state[2] = max_lease
end
local since = tonumber(state[4] or 0)
if state[1] ~= run and state[3] ~= run then
  since = now
  redis.call('HSET', KEYS[1], 'seen', run, 'since', string.format('%.0f', now))
end
return { state[1] == run and 1 or 0, state[1] and 1 or 0, since, tonumber(state[2] or 0), now }
