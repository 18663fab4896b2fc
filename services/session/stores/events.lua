-- Removes events that are in the conversation log.
--
-- KEYS  1 events  stream
-- ARGV  ids
--
-- Answers how many events are left.

for i = 1, #ARGV do redis.call('XDEL', KEYS[1], ARGV[i]) end
local left = redis.call('XLEN', KEYS[1])
if left == 0 then redis.call('DEL', KEYS[1]) end
return left
