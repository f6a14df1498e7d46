-- Returns the quarantine state of this master. The first client that sees the master in quarantine stores the time.
-- KEYS: the state of this master. ARGV: the run id of its process, the longest lease of the client in ms; '0' if no
--       majority has voted for the client yet; the pattern of all clients' channels
-- Returns 1 if this master votes, else 0; 1 if it has ever voted, else 0; start of the known quarantine in µs; longest
--       lease in ms, 0 if unknown; server time in µs
local run, max_lease = ARGV[1], ARGV[2]
local state = redis.call('HMGET', KEYS[1], 'run', 'maxLease', 'seen', 'since')
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if not state[2] and max_lease ~= '0' then
  redis.call('HSET', KEYS[1], 'maxLease', max_lease) -- the master has lost the value, and the client knows it
  state[2] = max_lease
end
local since = tonumber(state[4] or 0)
-- A start in the future shows that the clock was set back. How long the quarantine has lasted is unknown then, so it starts again:
-- never too early, and it does not last for as long as the clock was set back.
if state[1] ~= run and (state[3] ~= run or since > now) then
  since = now
  redis.call('HSET', KEYS[1], 'seen', run, 'since', string.format('%.0f', now))
  notify_clients(ARGV[3]) -- those that have not noticed the loss yet know the longest lease
end
return { state[1] == run and 1 or 0, state[1] and 1 or 0, since, tonumber(state[2] or 0), now }
