-- Tries to acquire a lock. Repeating it with the same attempt id returns the same grant and renews it.
-- ARGV: attempt id, owner record, lease in ms, server time in µs after which the request is refused,
--       channel or '' if the attempt does not wait, lifetime of a queue entry in ms unless the request is repeated,
--       nonce for signing messages to the attempt
-- Returns the token alone if it equals the time (the usual case) | 'granted', token, time
--       | 'busy', ms until the grant expires (-1: unknown), time | 'late', time
local attempt, record, lease, not_after, channel, entry_ms, nonce = unpack(ARGV)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- the sender has given up, and may have sent a withdrawal
end

local function grant()
  local token, written = next_token(now)
  redis.call('SET', grant_key, record .. ' token=' .. written, 'PX', lease)
  return token == now and now or { 'granted', token, now }
end

if redis.call('EXISTS', grant_key, queue_key) == 0 then
  return grant()
end

local value = redis.call('GET', grant_key)
if value and string.sub(value, 1, #attempt) == attempt then
  redis.call('PEXPIRE', grant_key, lease)
  return { 'granted', tonumber(string.match(value, ' token=(%d+)')), now }
end

