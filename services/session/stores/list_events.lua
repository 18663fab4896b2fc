-- The oldest events of a user.
--
-- KEYS  1 events  stream
-- ARGV  1 how many

return redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[1])
