-- One step of a session, atomic on the server. All keys hold the same hash tag, {tenant:user}, so they are in
-- one slot of a Cluster, and all of them are declared.
--
-- KEYS  1 texts    hash    arrival -> payload of a turn in the window
--       2 window   zset    arrival, scored by position: the score orders, arrival breaks ties
--       3 known    zset    turn id, scored by arrival: turns that are not added again
--       4 heads    hash    session id -> "window_turns ttl created active count", of all the user's sessions
--       5 recent   zset    session id, scored by minus the last active time: the order of listings
--       6 ending   zset    session id, scored by expire time: what may be dropped
--       7 mark     string  the answer to this request; only where the request has an id
-- ARGV  1 operation  2 now  3 session id  4 grace  5 fingerprint of the request  6 lifetime of marks
--       then the operation's own
--
-- Times are microseconds from the caller's clock, lifetimes microseconds; Redis's own clock only drops keys
-- that have been over for the grace time. Numbers above 2^53 do not occur. Answers are lists that begin with
-- ok, missing, exists or reused.

local POSITION_MAX = 9007199254740991

local operation, now, session_id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local grace, fingerprint, mark_lifetime = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])

local function text(number)
  return string.format('%.0f', number)
end

local function milliseconds(lifetime)
  return text(math.ceil(lifetime / 1000))
end

-- Head --------------------------------------------------------------------------------------------------

local function parse(packed)
  local fields = {}
  for field in string.gmatch(packed, '%S+') do fields[#fields + 1] = tonumber(field) end
  return {window = fields[1], ttl = fields[2], created = fields[3], active = fields[4], count = fields[5]}
end

local function pack(head)
  return table.concat({
    text(head.window), text(head.ttl), text(head.created), text(head.active), text(head.count)}, ' ')
end

local function drop()
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
  redis.call('HDEL', KEYS[4], session_id)
  redis.call('ZREM', KEYS[5], session_id)
  redis.call('ZREM', KEYS[6], session_id)
end

-- Redis may have evicted some of the keys for want of memory: half a session is none.
local function is_whole(head)
  if head.count == 0 then return true end
  local turns = redis.call('ZCARD', KEYS[2])
  return turns > 0 and turns == redis.call('HLEN', KEYS[1]) and redis.call('ZCARD', KEYS[3]) >= turns
end

local function live()
  local packed = redis.call('HGET', KEYS[4], session_id)
  local head = packed and parse(packed)
  if head and head.active + head.ttl > now and is_whole(head) then return head end
  -- Only where there is something: Redis stops refusing for want of memory after a script's first write.
  if packed or redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3]) > 0 then drop() end
  return nil
end

local function keep_at_least(key, lifetime)
  if redis.call('PTTL', key) < lifetime / 1000 then redis.call('PEXPIRE', key, milliseconds(lifetime)) end
end

local function save(head)
  if head.active < now then head.active = now end
  local lifetime = head.ttl + grace
  redis.call('HSET', KEYS[4], session_id, pack(head))
  redis.call('ZADD', KEYS[5], text(-head.active), session_id)
  redis.call('ZADD', KEYS[6], text(head.active + head.ttl), session_id)
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], milliseconds(lifetime)) end
  for i = 4, 6 do keep_at_least(KEYS[i], lifetime) end
end

-- A few of the user's sessions that are over, at each new one: their own keys go by themselves.
local function sweep()
  local over = redis.call('ZRANGEBYSCORE', KEYS[6], '-inf', text(now), 'LIMIT', 0, 32)
  if #over == 0 then return end
  redis.call('HDEL', KEYS[4], unpack(over))
  redis.call('ZREM', KEYS[5], unpack(over))
  redis.call('ZREM', KEYS[6], unpack(over))
end

local function begin(window, ttl)
  sweep()
  return {window = tonumber(window), ttl = tonumber(ttl), created = now, active = now, count = 0}
end

-- Answers -----------------------------------------------------------------------------------------------

-- ok, session id, turns added, whether created, head, then position and payload of each turn
local function answer(head, added, created, with_turns)
  local list = {'ok', session_id, text(added), text(created), pack(head)}
  if not with_turns then return list end
  local window = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
  if #window == 0 then return list end
  local arrivals = {}
  for i = 1, #window, 2 do arrivals[#arrivals + 1] = window[i] end
  local payloads = redis.call('HMGET', KEYS[1], unpack(arrivals))
  for i, payload in ipairs(payloads) do
    list[#list + 1] = window[2 * i]
    list[#list + 1] = payload
  end
  return list
end

local function first_answer()
  local kept = KEYS[7] and redis.call('GET', KEYS[7])
  if not kept then return nil end
  local mark = cjson.decode(kept)
  if tonumber(mark[2]) <= now then return nil end
  if mark[1] ~= fingerprint then return {'reused'} end
  return mark[3]
end

local function remember(list)
  if not KEYS[7] then return end
  local mark = cjson.encode({fingerprint, text(now + mark_lifetime), list})
  redis.call('SET', KEYS[7], mark, 'PX', milliseconds(mark_lifetime + grace))
end

-- Turns -------------------------------------------------------------------------------------------------

local function add(head, turn_id, position, payload)
  if redis.call('ZSCORE', KEYS[3], turn_id) then return 0 end
  if position == '' then
    local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
    position = last and text(math.min(tonumber(last) + 1, POSITION_MAX)) or '0'
  end
  local arrival = string.format('%016d', head.count)
  redis.call('HSET', KEYS[1], arrival, payload)
  redis.call('ZADD', KEYS[2], position, arrival)
  redis.call('ZADD', KEYS[3], text(head.count), turn_id)
  head.count = head.count + 1
  if redis.call('ZCARD', KEYS[2]) > head.window then
    redis.call('HDEL', KEYS[1], redis.call('ZPOPMIN', KEYS[2])[1])
  end
  return 1
end

local function forget_oldest(most)
  local excess = redis.call('ZCARD', KEYS[3]) - most
  if excess <= 0 then return end
  local oldest = redis.call('ZRANGE', KEYS[3], 0, excess - 1, 'WITHSCORES')
  for i = 1, #oldest, 2 do
    local arrival = string.format('%016d', tonumber(oldest[i + 1]))
    if not redis.call('ZSCORE', KEYS[2], arrival) then redis.call('ZREM', KEYS[3], oldest[i]) end
  end
end

-- Operations --------------------------------------------------------------------------------------------

local operations = {}

-- ARGV 7 window  8 ttl
function operations.create(first)
  if first then return first end
  if live() then return {'exists'} end
  local head = begin(ARGV[7], ARGV[8])
  save(head)
  local list = answer(head, 0, 1, false)
  remember(list)
  return list
end

function operations.get()
  local head = live()
  if not head then return {'missing'} end
  save(head)
  return answer(head, 0, 0, true)
end

-- ARGV 7 window to create with, or empty  8 ttl  9 turns to know beyond the window
--      then turn id, position or empty, payload of each turn
function operations.append(first)
  local head = live()
  if first then
    if not head then return {'missing'} end
    save(head)
    return answer(head, tonumber(first[3]), tonumber(first[4]), true)
  end
  local created = 0
  if not head then
    if ARGV[7] == '' then return {'missing'} end
    head, created = begin(ARGV[7], ARGV[8]), 1
  end
  local added = 0
  for i = 10, #ARGV, 3 do added = added + add(head, ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
  forget_oldest(head.window + tonumber(ARGV[9]))
  save(head)
  -- Only the counts are repeated: keeping every answer's window would multiply what a session takes.
  remember(answer(head, added, created, false))
  return answer(head, added, created, true)
end

-- ARGV 7 ttl, or empty
function operations.extend(first)
  if first then return first end
  local head = live()
  if not head then return {'missing'} end
  if ARGV[7] ~= '' then head.ttl = tonumber(ARGV[7]) end
  save(head)
  local list = answer(head, 0, 0, false)
  remember(list)
  return list
end

function operations.delete(first)
  if first then return first end
  local head = live()
  if not head then return {'missing'} end
  local list = answer(head, 0, 0, true)
  drop()
  remember(list)
  return list
end

local first = first_answer()
if first and first[1] == 'reused' then return first end
return operations[operation](first)
