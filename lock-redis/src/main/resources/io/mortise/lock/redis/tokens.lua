-- Higher than all before, also when the counter was lost: the clock has advanced since. As a number, and in digits.
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

