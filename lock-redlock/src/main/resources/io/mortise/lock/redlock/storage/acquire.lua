-- Votes for a round of an attempt. If the attempt has the vote from an earlier round, the vote moves to this round. A late
-- request of an earlier round leaves the vote of a later one as it is.
-- ARGV: run id, bucket, attempt id, owner record and round, lease in ms, latest server time of execution in µs, '1' if it may be
--       queued already
--       | if it waits: its channel, its queue position, the lifetime of its queue entry in ms
-- Returns only the counter: granted
--       | 'busy', remaining ms (-1: unknown), beginning of the holder's value, number of earlier queue entries, time | 'late',
--       time
local attempt, record, lease, not_after, may_be_queued = unpack(ARGV, 3, 7)
local channel, score, ttl = unpack(ARGV, 8)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- the client no longer waits for this request, and may have released the attempt
end

local token = tonumber(state[2] or 0) + 1
if may_be_queued ~= '1' and redis.call('SET', grant_key, record .. ' token=' .. digits(token), 'NX', 'PX', lease) then
  count(token)
  return token
end

