-- Second part of release: the lock has a queue.
local now = micros()
local was_queued = false
if not mark or string.find(redis.call('HGET', entries_key, attempt) or '', mark, 1, true) then
  was_queued = leave(attempt)
else
  spare_memory()
end
local more_dead
if held or not value then
  more_dead = wake_first(now)
end
if redis.call('EXISTS', queue_key) == 0 then
  redis.call('DEL', entries_key)
end
return { held and 1 or 0, was_queued and 1 or 0, now, more_dead and 1 or nil }
