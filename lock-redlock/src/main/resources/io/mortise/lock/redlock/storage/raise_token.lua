-- Token round of an acquire: stores the token of the majority if this round still has the vote of this master.
-- ARGV: run id, bucket, attempt id, round, token
-- Returns 1 if the round still has the vote, else 0
local attempt, round, token = ARGV[3], tonumber(ARGV[4]), ARGV[5]
local value = redis.pcall('GET', grant_key)
if not is_of(attempt, value) or round_of(value) ~= round then
  return 0
end
if tonumber(state[2] or 0) < tonumber(token) then
  count(token)
end
local remaining = redis.call('PTTL', grant_key)
if remaining > 0 then
  redis.call('SET', grant_key, string.gsub(value, ' token=%d+$', ' token=' .. token), 'PX', remaining)
end
return 1
