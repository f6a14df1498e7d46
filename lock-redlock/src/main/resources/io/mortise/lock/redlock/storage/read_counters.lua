-- Returns the token counters of this master, for another one that leaves quarantine.
-- KEYS: the state of this master. ARGV: the run id of its process, the buckets
-- Returns the counter of each bucket; nothing if this master does not vote
local state = redis.call('HMGET', KEYS[1], 'run', unpack(ARGV, 2))
local counters = {}
if state[1] == ARGV[1] then
  for i = 2, #state do
    counters[i - 1] = tonumber(state[i] or 0)
  end
end
return counters
