-- Removes a user's sessions from lists and reads, and the user's events.
--
-- KEYS  1 ending  zset  conversation id, scored by expire time
--       2 heads, 3 recent, 4 events
-- ARGV  1 now
--
-- Answers how many sessions were live.

local live = redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[1], '+inf')
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
return live
