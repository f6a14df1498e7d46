-- Gives back the vote of an attempt that found no majority; it keeps its place in line, and nobody is woken: who was in the
-- way of whom tries again by chance.
-- ARGV: attempt id | and for one that waits: owner record, lease in ms, its channel, its place, for how many ms that stands
-- Answers 1 or 0: it was there
local attempt, record, lease, channel, score, stands = unpack(ARGV)
local value = redis.pcall('GET', grant_key)
local ours = type(value) == 'string' and string.sub(value, 1, #attempt) == attempt
if ours then
  redis.call('DEL', grant_key)
  if channel then
    stand(attempt, channel, lease, score, stands, record, micros())
  end
end
return ours and 1 or 0
