-- One vote. Asked again by the same attempt id it is the same vote.
-- ARGV: run id, bucket, attempt id, owner record, lease in ms, not after this server time in µs, '1' if it may stand in line already
--       | and for one that waits: its channel, its place, for how many ms that stands without being asked for again
-- Answers the counter alone: granted
--       | 'busy', ms to go (-1: unknown), how the holder's value begins, how many stand before it, time | 'late', time
local attempt, record, lease, not_after, in_line = unpack(ARGV, 3, 7)
local channel, score, stands = unpack(ARGV, 8)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- its sender has given it up, and may have withdrawn it
end

local token = tonumber(state[2] or 0) + 1
if in_line ~= '1' and redis.call('SET', grant_key, record .. ' token=' .. digits(token), 'NX', 'PX', lease) then
  count(token)
  return token
end

