-- Deletes the vote of an attempt that won no majority. A waiting attempt keeps its queue entry. Nobody is woken: the contenders that
-- share the votes ask again after random delays.
-- ARGV: attempt id | if it waits: owner record, lease in ms, its channel, its queue position, how many ms its queue entry lasts
-- Returns 1 or 0: it had the vote
local attempt, record, lease, channel, score, ttl = unpack(ARGV)
local value = redis.pcall('GET', grant_key)
local ours = type(value) == 'string' and string.sub(value, 1, #attempt) == attempt
if ours then
  redis.call('DEL', grant_key)
  if channel then
    enqueue(attempt, channel, lease, score, ttl, record, micros())
  end
end
return ours and 1 or 0
