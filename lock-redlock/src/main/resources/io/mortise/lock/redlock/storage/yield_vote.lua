-- Deletes the vote of a round that won no majority, and no vote of another round: the request may be executed late. A waiting
-- attempt keeps its queue entry.
-- ARGV: attempt id, round, '1' to wake the head of the queue: others may have seen a majority, and wait for its release. Else
--       nobody is woken, since those that share the votes retry after random delays
--       | if it waits: owner record, lease in ms, its channel, its queue position, lifetime of its queue entry in ms
-- Returns 1 if the round had the vote, else 0
local attempt, round, wakes, record, lease, channel, score, ttl = unpack(ARGV)
local value = redis.pcall('GET', grant_key)
local had_vote = type(value) == 'string'
  and string.sub(value, 1, #attempt) == attempt
  and string.match(value, ' round=(%d+) token=%d+$') == round
if had_vote then
  redis.call('DEL', grant_key)
  if wakes == '1' and redis.call('EXISTS', queue_key) == 1 then
    wake_first(micros())
  end
  if channel then
    enqueue(attempt, channel, lease, score, ttl, record, micros())
  end
end
return had_vote and 1 or 0
