-- A vote that a grant has lost, taken again with the token that it has. Only where nobody has it, and counters only ever rise.
-- ARGV: run id, bucket, attempt id, token, owner record, lease in ms, not after this server time in µs
-- Answers 1 or 0: it was free | 'late', time
local token, record, lease, not_after = unpack(ARGV, 4, 7)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- its sender has given it up, and may have withdrawn it
end
if not redis.call('SET', grant_key, record .. ' token=' .. token, 'NX', 'PX', lease) then
  return 0
end
if tonumber(state[2] or 0) < tonumber(token) then
  count(token)
end
return 1
