-- The rest of release: others stand in line, or this one did.
local now = micros()
local stood = leave(attempt)
if held or not value then
  wake_first(now)
end
if redis.call('EXISTS', queue_key) == 0 then
  redis.call('DEL', entries_key)
end
return { held and 1 or 0, stood and 1 or 0, now }
