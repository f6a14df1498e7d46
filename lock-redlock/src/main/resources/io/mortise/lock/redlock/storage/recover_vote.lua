-- Votes again, with the same token, for a grant that has lost the vote of this master, if the key is free or has
-- a vote of an earlier round, which a late request may have left. Counters never decrease.
-- Needs shared/queue.
-- ARGV: run id, bucket, attempt id, token, owner record and round, lease in ms, latest server time of execution in µs
-- Returns 1 if it has voted, else 0 | 'late', time
local attempt, token, record, lease, not_after = unpack(ARGV, 3, 7)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- the client no longer waits for this request, and may have released the grant
end
local vote = record .. ' token=' .. token
local value = redis.pcall('GET', grant_key)
if value and not (is_of(attempt, value) and round_of(value) < round_of(vote)) then
  return 0
end
redis.call('SET', grant_key, vote, 'PX', lease)
leave(attempt) -- it may have been queued when another contender had this master's vote
if tonumber(state[2] or 0) < tonumber(token) then
  count(token)
end
return 1
