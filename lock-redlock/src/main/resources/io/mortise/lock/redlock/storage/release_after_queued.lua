-- Second part of release_after: the vote is kept, and the queue entry remains.
if leave(attempt) and redis.call('EXISTS', queue_key) == 0 then
  redis.call('DEL', entries_key)
end
return { kept and 1 or 0, micros() }
