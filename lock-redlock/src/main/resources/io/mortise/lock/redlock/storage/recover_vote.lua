-- Votes again for a grant that has lost its vote here, with its token, if the key is free. Counters never decrease.
-- ARGV: run id, bucket, attempt id, token, owner record, lease in ms, not after this server time in µs
-- Returns 1 or 0: the key was free | 'late', time
local token, record, lease, not_after = unpack(ARGV, 4, 7)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- the client has given it up, and may have released it
end
if not redis.call('SET', grant_key, record .. ' token=' .. token, 'NX', 'PX', lease) then
  return 0
end
if tonumber(state[2] or 0) < tonumber(token) then
  count(token)
end
return 1
