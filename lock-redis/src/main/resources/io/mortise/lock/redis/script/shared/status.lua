-- Who holds a lock and who is queued for it, as of one moment.
-- KEYS: as shared/keys has them
-- The first text must not be one that an application chose: Lettuce would take "message" there for one that was published.
-- Answers '' or '=' and the value of the grant, then the owner records of those in the queue, in their order
local value = redis.pcall('GET', KEYS[1])
local kind = type(value)
local line = { kind == 'string' and '=' .. value or kind == 'table' and '=(not a string)' or '' }
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
for _, attempt in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  local entry = redis.call('HGET', KEYS[4], attempt) or ''
  local until_micros, record = string.match(entry, '^%S+ %d+ (%d+) %S+ (.*)$')
  if record and tonumber(until_micros) > now then
    line[#line + 1] = record
  end
end
return line
