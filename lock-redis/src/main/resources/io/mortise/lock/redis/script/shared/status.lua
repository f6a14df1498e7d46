-- Returns the holder of a lock and its waiters at one moment.
-- KEYS: the same as in shared/keys
-- The first string must not be one that an application chose: Lettuce would take "message" there for a published message.
-- Returns '' or '=' and the value of the grant, then the owner records of the waiters in the order of the queue
local value = redis.pcall('GET', KEYS[1])
local kind = type(value)
local reply = { kind == 'string' and '=' .. value or kind == 'table' and '=(not a string)' or '' }
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
for _, attempt in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  local entry = redis.call('HGET', KEYS[4], attempt) or ''
  local until_micros, record = string.match(entry, '^%S+ %d+ (%d+) %S+ (.*)$')
  if record and tonumber(until_micros) > now then
    reply[#reply + 1] = record
  end
end
return reply
