-- Votes again, with the same token, for a grant that has lost the vote of this master, if the key is free. Counters never
-- decrease.
-- ARGV: run id, bucket, attempt id, token, owner record, lease in ms, latest server time of execution in µs
-- Returns 1 if the key was free, else 0 | 'late', time
local token, record, lease, not_after = unpack(ARGV, 4, 7)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- the client no longer waits for this request, and may have released the grant
end
if not redis.call('SET', grant_key, record .. ' token=' .. token, 'NX', 'PX', lease) then
  return 0
end
if tonumber(state[2] or 0) < tonumber(token) then
  count(token)
end
return 1
