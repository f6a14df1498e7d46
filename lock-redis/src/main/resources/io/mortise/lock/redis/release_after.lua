-- Releases a grant with a delay, and removes what a late acquire of its attempt may have created meanwhile: a queue entry, or
-- another grant after an operator has ended the first. Serves the next attempt in the queue if the lock is free then.
-- ARGV: see shared/keep_grant
-- Returns 1 if the attempt has the grant, else 0; the time
local now = micros()
local late_grant = value and not kept and string.sub(value, 1, #attempt) == attempt
local was_queued = leave(attempt)
if late_grant or not value then
  hand_off(value, now) -- with more dead entries than one run removes, the next request continues
elseif was_queued and redis.call('EXISTS', queue_key) == 0 then
  redis.call('DEL', entries_key)
end
return { kept and 1 or 0, now }
