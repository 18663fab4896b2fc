-- One step of a session, atomic on the server. All keys hold the same hash tag, {tenant:user}, so they are in
-- one slot of a Cluster, and all of them are declared.
--
-- KEYS  1 texts    hash    arrival -> payload of a turn in the window
--       2 window   zset    arrival, scored by position: the score orders, arrival breaks ties
--       3 known    zset    turn id, scored by arrival: turns that are not added again
--       4 heads    hash    conversation id -> "window_turns ttl created active count", of all the user's sessions
--       5 recent   zset    conversation id, scored by minus the last active time: the order of listings
--       6 ending   zset    conversation id, scored by expire time: what may be dropped
--       7 events   stream  what the conversation log does not have yet: conversation, kind, payload
--       8 record   string  idempotency record of this request; only where the request has an id
-- ARGV  1 operation  2 now  3 conversation id  4 grace  5 digest of the request  6 retention of idempotency records
--       7 most events to wait, or empty where nothing is reported, or -1 without a bound
--       8 bytes of payloads in one response, of which there is one at least where there are turns
--       then the operation's own
--
-- Times are microseconds from the caller's clock, lifetimes microseconds; Redis's own clock only drops keys
-- that have been over for the grace time. Numbers above 2^53 do not occur. Responses are lists that begin with
-- ok, repeat, missing, exists, reused or full.

local POSITION_MAX = 9007199254740991

local operation, now, conversation_id = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local grace, digest, retention = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])

local function text(number)
  return string.format('%.0f', number)
end

local function milliseconds(lifetime)
  return text(math.ceil(lifetime / 1000))
end

-- Events ------------------------------------------------------------------------------------------------

local reported = ARGV[7] ~= ''
local events_max = tonumber(ARGV[7])

local function is_full(added)
  return reported and events_max >= 0 and redis.call('XLEN', KEYS[7]) + added > events_max
end

-- Ids are made here, of the caller's clock, since a replica runs this script too. They only grow while events wait.
local function report(kind, payload)
  if not reported then return end
  local milliseconds_now, number = math.floor(now / 1000), 0
  local last = redis.call('XREVRANGE', KEYS[7], '+', '-', 'COUNT', 1)[1]
  if last then
    local last_milliseconds, last_number = string.match(last[1], '^(%d+)-(%d+)$')
    if tonumber(last_milliseconds) >= milliseconds_now then
      milliseconds_now, number = tonumber(last_milliseconds), tonumber(last_number) + 1
    end
  end
  local id = text(milliseconds_now) .. '-' .. text(number)
  redis.call('XADD', KEYS[7], id, 'conversation', conversation_id, 'kind', kind, 'payload', payload)
end

local function report_settings(head)
  report('settings', text(head.window) .. ' ' .. text(head.ttl) .. ' ' .. text(now) .. ' ' .. text(head.created))
end

-- Events of the conversation's turns
local function discard_turns()
  for _, event in ipairs(redis.call('XRANGE', KEYS[7], '-', '+')) do
    if event[2][2] == conversation_id and event[2][4] == 'turn' then redis.call('XDEL', KEYS[7], event[1]) end
  end
  if redis.call('XLEN', KEYS[7]) == 0 then redis.call('DEL', KEYS[7]) end
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
  redis.call('HDEL', KEYS[4], conversation_id)
  redis.call('ZREM', KEYS[5], conversation_id)
  redis.call('ZREM', KEYS[6], conversation_id)
end

-- Redis may have evicted some of the keys for want of memory: half a session is none.
local function is_whole(head)
  if head.count == 0 then return true end
  local turns = redis.call('ZCARD', KEYS[2])
  return turns > 0 and turns == redis.call('HLEN', KEYS[1]) and redis.call('ZCARD', KEYS[3]) >= turns
end

local function live()
  local packed = redis.call('HGET', KEYS[4], conversation_id)
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
  redis.call('HSET', KEYS[4], conversation_id, pack(head))
  redis.call('ZADD', KEYS[5], text(-head.active), conversation_id)
  redis.call('ZADD', KEYS[6], text(head.active + head.ttl), conversation_id)
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], milliseconds(lifetime)) end
  for i = 4, 6 do keep_at_least(KEYS[i], lifetime) end
end

-- A few of the user's sessions that are over, at each new one: their own keys go by themselves.
local function drop_expired()
  local over = redis.call('ZRANGEBYSCORE', KEYS[6], '-inf', text(now), 'LIMIT', 0, 32)
  if #over == 0 then return end
  redis.call('HDEL', KEYS[4], unpack(over))
  redis.call('ZREM', KEYS[5], unpack(over))
  redis.call('ZREM', KEYS[6], unpack(over))
end

local function begin(window, ttl)
  drop_expired()
  return {window = tonumber(window), ttl = tonumber(ttl), created = now, active = now, count = 0}
end

-- Responses ---------------------------------------------------------------------------------------------

-- ok, conversation id, turns added, whether created, head, then position and payload of each turn. In place of a payload
-- that is too much for this response is its arrival, as a number.
local function response(head, added, created, with_turns)
  local list = {'ok', conversation_id, text(added), text(created), pack(head)}
  if not with_turns then return list end
  local window = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
  if #window == 0 then return list end
  local arrivals, bytes = {}, 0
  for i = 1, #window, 2 do
    bytes = bytes + redis.call('HSTRLEN', KEYS[1], window[i])
    if i > 1 and bytes > tonumber(ARGV[8]) then break end
    arrivals[#arrivals + 1] = window[i]
  end
  local payloads = redis.call('HMGET', KEYS[1], unpack(arrivals))
  for i = 1, #window / 2 do
    list[#list + 1] = window[2 * i]
    list[#list + 1] = payloads[i] or tonumber(window[2 * i - 1])
  end
  return list
end

local function first_response()
  local packed = KEYS[8] and redis.call('GET', KEYS[8])
  if not packed then return nil end
  local record = cjson.decode(packed)
  if tonumber(record[2]) <= now then return nil end
  if record[1] ~= digest then return {'reused'} end
  record[3][1] = 'repeat'
  return record[3]
end

local function remember(list)
  if not KEYS[8] then return end
  local record = cjson.encode({digest, text(now + retention), list})
  redis.call('SET', KEYS[8], record, 'PX', milliseconds(retention + grace))
end

-- Turns -------------------------------------------------------------------------------------------------

local function add(head, interaction_id, position, payload)
  if redis.call('ZSCORE', KEYS[3], interaction_id) then return 0 end
  if position == '' then
    local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
    position = last and text(math.min(tonumber(last) + 1, POSITION_MAX)) or '0'
  end
  local arrival = string.format('%016d', head.count)
  redis.call('HSET', KEYS[1], arrival, payload)
  redis.call('ZADD', KEYS[2], position, arrival)
  redis.call('ZADD', KEYS[3], text(head.count), interaction_id)
  report('turn', payload)
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

-- ARGV 9 window  10 ttl
function operations.create(first)
  if first then return first end
  if live() then return {'exists'} end
  if is_full(1) then return {'full'} end
  local head = begin(ARGV[9], ARGV[10])
  save(head)
  report_settings(head)
  local list = response(head, 0, 1, false)
  remember(list)
  return list
end

function operations.get()
  local head = live()
  if not head then return {'missing'} end
  save(head)
  return response(head, 0, 0, true)
end

-- ARGV 9 window to create with, or empty  10 ttl  11 turns to know beyond the window
--      12 create time of a session that is made anew, or empty  13 turns that it counted before these
--      then turn id, position or empty, payload of each turn
function operations.append(first)
  if first then return first end
  local head = live()
  if not head and ARGV[9] == '' then return {'missing'} end
  local created = head and 0 or 1
  if is_full((#ARGV - 13) / 3 + created) then return {'full'} end
  if not head then
    head = begin(ARGV[9], ARGV[10])
    if ARGV[12] ~= '' then head.created, head.count = tonumber(ARGV[12]), tonumber(ARGV[13]) end
    report_settings(head)
  end
  local added = 0
  for i = 14, #ARGV, 3 do added = added + add(head, ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
  forget_oldest(head.window + tonumber(ARGV[11]))
  save(head)
  -- Without turns: storing the window of every response would multiply what a session takes.
  remember(response(head, added, created, false))
  return response(head, added, created, true)
end

-- ARGV 9 ttl, or empty
function operations.extend(first)
  if first then return first end
  local head = live()
  if not head then return {'missing'} end
  if is_full(1) then return {'full'} end
  if ARGV[9] ~= '' then head.ttl = tonumber(ARGV[9]) end
  save(head)
  report_settings(head)
  local list = response(head, 0, 0, false)
  remember(list)
  return list
end

-- ARGV 9 whether events of turns are discarded: 1 or 0
function operations.delete(first)
  if first then return first end
  local head = live()
  if not head then return {'missing'} end
  local list = response(head, 0, 0, false)
  drop()
  if ARGV[9] == '1' then discard_turns() end
  report('deletion', text(head.created))
  remember(list)
  return list
end

local first = first_response()
if first and first[1] == 'reused' then return first end
return operations[operation](first)
