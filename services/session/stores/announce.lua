-- Puts a user into the set of users that may have events.
--
-- KEYS  1 reporters  zset  user, scored by the time of the last reported write, or of the last list of the user's events
-- ARGV  1 user  2 now

return redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
