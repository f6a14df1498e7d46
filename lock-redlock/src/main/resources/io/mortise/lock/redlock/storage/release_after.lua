-- Releases a vote with a delay, and deletes the queue entry of its attempt. Wakes no contender: the lock stays taken.
-- ARGV: see shared/keep_grant; then the run id of this master in the client's handshake
-- Returns 1 if the attempt has the vote, else 0; the time | 'quarantined' if this master may have forgotten votes
if redis.call('HGET', counter_key, 'run') ~= ARGV[4] then
  return { 'quarantined' } -- before it keeps a vote, which no later release of the attempt would find
end

