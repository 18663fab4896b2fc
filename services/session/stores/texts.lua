-- Payloads of turns that were too much for one response of a session's step.
--
-- KEYS  1 texts  hash  arrival -> payload of a turn in the window
-- ARGV  1 bytes of payloads in this response, of which there is one at least, then arrivals
--
-- Answers the payloads of the first of these, nil for those that left the window meanwhile.

local list, bytes = {}, 0
for i = 2, #ARGV do
  local payload = redis.call('HGET', KEYS[1], ARGV[i])
  if payload then bytes = bytes + #payload end
  if i > 2 and bytes > tonumber(ARGV[1]) then break end
  list[#list + 1] = payload
end
return list
