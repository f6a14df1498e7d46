-- Ends the quarantine: this master votes from now on. Counters never decrease.
-- KEYS: the state of this master. ARGV: the run id of its process, the start of the quarantine that the client knows, the
--       longest lease of the client in ms, '1' if counters must be raised to this master's clock, '1' if this master is new,
--       the pattern of all clients' channels, the buckets and their counters
-- Returns 1, or 0 if this master has lost its data again since then, its quarantine has not ended by its own clock (the client's
-- may run faster), or it stores another longest lease
local state = redis.call('HMGET', KEYS[1], 'run', 'seen', 'since', 'maxLease')
if state[4] and state[4] ~= ARGV[3] then
  return 0
end
if state[1] == ARGV[1] then
  return 1 -- another client was faster
end
if state[2] ~= ARGV[1] or state[3] ~= ARGV[2] then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[5] ~= '1' and now < tonumber(ARGV[2]) + ARGV[3] * 1000 then
  return 0
end
local floor = ARGV[4] == '1' and now or 0
for i = 7, #ARGV, 2 do
  local bucket, known = ARGV[i], tonumber(ARGV[i + 1])
  local count = math.max(known, floor, tonumber(redis.call('HGET', KEYS[1], bucket) or 0))
  redis.call('HSET', KEYS[1], bucket, string.format('%.0f', count))
end
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'maxLease', ARGV[3])
redis.call('HDEL', KEYS[1], 'seen', 'since')
notify_clients(ARGV[6])
return 1
