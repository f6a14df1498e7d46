-- Releases a grant with a delay, and deletes the queue entry that a late acquire of its attempt may have created meanwhile.
-- ARGV: see shared/keep_grant
-- Returns 1 if the grant belongs to the attempt, else 0; the time
if leave(attempt) and redis.call('EXISTS', queue_key) == 0 then
  redis.call('DEL', entries_key)
end
return { kept and 1 or 0, micros() }
