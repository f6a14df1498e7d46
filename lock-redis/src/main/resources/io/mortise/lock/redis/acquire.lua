-- One attempt. Asked again by the same attempt id it answers the same grant.
-- ARGV: attempt id, owner record, lease in ms, not after this server time in µs, channel or '' for one that does not wait,
--       lifetime of a queue entry in ms, unless it is asked for again, the nonce that messages for it are signed with
-- Answers the token alone where it equals the time (the rule) | 'granted', token, time
--       | 'busy', ms to go (-1: unknown), time | 'late', time
local attempt, record, lease, not_after, channel, entry_ms, nonce = unpack(ARGV)
local now = micros()
if now > tonumber(not_after) then
  return { 'late', now } -- its sender has given it up, and may have withdrawn it
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

