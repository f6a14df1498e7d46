-- Releases a grant with a delay.
-- ARGV: see shared/keep_grant
-- Returns 1 if the grant belongs to the attempt, else 0; the time
return { kept and 1 or 0, micros() }
