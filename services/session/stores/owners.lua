-- Users that may have events, the longest waiting first.
--
-- KEYS  1 reporters  zset  user, scored by the time of the last reported write, or of the last list of the user's events
-- ARGV  1 how many

return redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)
