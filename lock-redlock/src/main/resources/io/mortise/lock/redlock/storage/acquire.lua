-- Votes for an attempt. The same attempt id gets the same vote again.
-- ARGV: run id, bucket, attempt id, owner record, lease in ms, not after this server time in µs, '1' if it may be queued already
--       | if it waits: its channel, its queue position, how many ms its queue entry lasts unless it asks again
-- Returns the counter alone: granted
--       | 'busy', remaining ms (-1: unknown), beginning of the holder's value, how many are queued before it, time | 'late', time
local attempt, record, lease, not_after, may_be_queued = unpack(ARGV, 3, 7)
local channel, score, ttl = unpack(ARGV, 8)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- the client has given it up, and may have released it
end

local token = tonumber(state[2] or 0) + 1
if may_be_queued ~= '1' and redis.call('SET', grant_key, record .. ' token=' .. digits(token), 'NX', 'PX', lease) then
  count(token)
  return token
end

