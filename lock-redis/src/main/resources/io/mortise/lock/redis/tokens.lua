-- Returns a token that is higher than all before, as a number and as a string. This holds even after a loss of the counter,
-- since the clock has advanced meanwhile.
local function next_token(now)
  local token = digits(now)
  local last = tonumber(redis.call('GETSET', counter_key, token) or '') or 0
  if last < now then
    return now, token
  end
  token = digits(last + 1)
  redis.call('SET', counter_key, token)
  return last + 1, token
end

