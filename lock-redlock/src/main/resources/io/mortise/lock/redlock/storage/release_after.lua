-- Releases a vote with a delay, and deletes the queue entry of its attempt. Wakes no contender: the lock stays taken.
-- ARGV: see shared/keep_grant; then the run id of this master in the client's handshake
-- Returns 1 if the attempt has the vote, else 0; the time | 'quarantined' if this master may have forgotten votes
if leave(attempt) and redis.call('EXISTS', queue_key) == 0 then
  redis.call('DEL', entries_key)
end
if redis.call('HGET', counter_key, 'run') ~= ARGV[3] then
  return { 'quarantined' }
end
return { kept and 1 or 0, micros() }
