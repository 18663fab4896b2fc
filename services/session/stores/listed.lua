-- Puts users whose events were listed behind those that wait to be.
--
-- KEYS  1 reporters  zset  user, scored by the time of the last reported write, or of the last list of the user's events
-- ARGV  1 now, then users

for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', 'GT', ARGV[1], ARGV[i]) end
return 1
