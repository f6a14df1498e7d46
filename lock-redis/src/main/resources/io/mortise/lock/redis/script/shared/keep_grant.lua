-- Lets the attempt's grant expire after a delay, whatever its lease was. Never creates a grant. Safe to repeat, and a repetition
-- keeps the grant no longer. The mark in front of the value hides it from late renewals, acquires and releases of the attempt.
-- ARGV: attempt id, delay in ms, the grant's token ('' or missing: any). Sets kept to true if that grant exists
local attempt, delay, token = ARGV[1], tonumber(ARGV[2]), ARGV[3] or ''
local value = redis.pcall('GET', grant_key)
if type(value) == 'table' then
  if not string.find(value.err, 'WRONGTYPE', 1, true) then
    return value -- an error means that the state is unknown, not that the grant is lost
  end
  value = ''
end
local named = value and (token == '' or string.match(value, ' token=(%d+)') == token)
local held = named and string.sub(value, 1, #attempt) == attempt
local kept = named and string.sub(value, 1, #attempt + 1) == '~' .. attempt
if held or (kept and redis.call('PTTL', grant_key) > delay) then
  redis.call('PEXPIRE', grant_key, delay) -- before SET, which a full server rejects as a script's first write
end
if held then
  redis.call('SET', grant_key, '~' .. value, 'PX', delay)
  kept = true
end

