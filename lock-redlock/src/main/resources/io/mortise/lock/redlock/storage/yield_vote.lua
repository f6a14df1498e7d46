-- Deletes the vote of an attempt that won no majority. A waiting attempt keeps its queue entry. No contender is woken: those
-- that share the votes retry after random delays.
-- ARGV: attempt id | if it waits: owner record, lease in ms, its channel, its queue position, lifetime of its queue entry in ms
-- Returns 1 if the attempt had the vote, else 0
local attempt, record, lease, channel, score, ttl = unpack(ARGV)
local value = redis.pcall('GET', grant_key)
local had_vote = type(value) == 'string' and string.sub(value, 1, #attempt) == attempt
if had_vote then
  redis.call('DEL', grant_key)
  if channel then
    enqueue(attempt, channel, lease, score, ttl, record, micros())
  end
end
return had_vote and 1 or 0
