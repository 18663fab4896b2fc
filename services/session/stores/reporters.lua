-- Takes a user without events out of the set of users that may have some.
--
-- KEYS  1 reporters  zset  user, scored by the time of the last reported write, or of the last list of the user's events
-- ARGV  1 user  2 latest score: a later write may be about to add an event
--
-- Answers 1 where it was taken out.

local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if score and tonumber(score) <= tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0
