-- One step of a context window, atomic on the server. All keys hold the same hash tag, {tenant:user}, so they are in one
-- slot of a Cluster, and all of them are declared.
--
-- KEYS  1 head       string  "max_tokens ttl created active revision tokens items pruned task"
--       2 items      hash    item id -> payload, JSON with item_id and token_count
--       3 order      zset    item id, scored by position
--       4 snapshots  list    the newest first
--       5 record     string  idempotency record of this request; only where the request has an id
-- ARGV  1 operation  2 now  3 grace  4 digest of the request  5 retention of idempotency records
--       then what the operation takes
--
-- Times are microseconds from the caller's clock, lifetimes microseconds; Redis's own clock only drops keys that have been
-- over for the grace time. Responses are lists that begin with ok, repeat, none, missing, moved, reused, items or bytes.

local operation, now, grace = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local digest, retention = ARGV[4], tonumber(ARGV[5])

local function text(number)
  return string.format('%.0f', number)
end

local function milliseconds(lifetime)
  return text(math.ceil(lifetime / 1000))
end

-- Head --------------------------------------------------------------------------------------------------

local NUMBER = '(%d+) '
local HEAD = '^' .. string.rep(NUMBER, 8) .. '(.*)$'

local function parse(packed)
  local window, ttl, created, active, revision, tokens, items, pruned, task = string.match(packed, HEAD)
  return {
    max_tokens = tonumber(window), ttl = tonumber(ttl), created = tonumber(created), active = tonumber(active),
    revision = tonumber(revision), tokens = tonumber(tokens), items = tonumber(items), pruned = tonumber(pruned),
    task = task}
end

local function pack(head)
  return table.concat({
    text(head.max_tokens), text(head.ttl), text(head.created), text(head.active), text(head.revision),
    text(head.tokens), text(head.items), text(head.pruned), head.task}, ' ')
end

-- Redis may have evicted some of the keys for want of memory: half a window is none.
local function is_whole(head)
  return redis.call('HLEN', KEYS[2]) == head.items and redis.call('ZCARD', KEYS[3]) == head.items
end

local function live()
  local packed = redis.call('GET', KEYS[1])
  local head = packed and parse(packed)
  if head and head.active + head.ttl > now and is_whole(head) then return head end
  -- Only where there is something: Redis stops refusing for want of memory after a script's first write.
  if packed or redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
  end
  return nil
end

local function save(head)
  if head.active < now then head.active = now end
  local lifetime = milliseconds(head.ttl + grace)
  redis.call('SET', KEYS[1], pack(head), 'PX', lifetime)
  for i = 2, 4 do redis.call('PEXPIRE', KEYS[i], lifetime) end
end

-- Requests ----------------------------------------------------------------------------------------------

local function first_response()
  local packed = KEYS[5] and redis.call('GET', KEYS[5])
  if not packed then return nil end
  local record = cjson.decode(packed)
  if tonumber(record[2]) <= now then return nil end
  if record[1] ~= digest then return {'reused'} end
  record[3][1] = 'repeat'
  return record[3]
end

local function remember(list)
  if not KEYS[5] then return end
  local record = cjson.encode({digest, text(now + retention), list})
  redis.call('SET', KEYS[5], record, 'PX', milliseconds(retention + grace))
end

-- Items -------------------------------------------------------------------------------------------------

local function tokens_of(payload)
  return tonumber(cjson.decode(payload).token_count or 0)
end

-- Payloads of all items of the window, in its order, each behind its position
local function listed()
  local placed, list, ids = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES'), {}, {}
  for i = 1, #placed, 2 do ids[#ids + 1] = placed[i] end
  if #ids == 0 then return list end
  for i, payload in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
    list[#list + 1] = placed[2 * i]
    list[#list + 1] = payload
  end
  return list
end

-- Operations --------------------------------------------------------------------------------------------

local operations = {}

function operations.read()
  local head = live()
  if not head then return {'missing'} end
  save(head)
  local list = listed()
  table.insert(list, 1, pack(head))
  table.insert(list, 1, 'ok')
  return list
end

function operations.first(first)
  return first or {'none'}
end

-- ARGV 6 max_tokens and 7 ttl to create with, or empty  8 revision that it must have, or empty
--      9 max_tokens, 10 ttl to set, or empty  11 1 to set the task, else 0  12 the task
--      13 snapshot, or empty  14 most snapshots  15 most items  16 most bytes  17 note
--      18 how many items to remove, then their ids; then item id and payload of each item to add
function operations.change(first)
  if first then return first end
  local head = live()
  if not head and ARGV[6] == '' then return {'missing'} end
  local revision = head and head.revision or 0
  if ARGV[8] ~= '' and tonumber(ARGV[8]) ~= revision then return {'moved'} end
  head = head or {
    max_tokens = tonumber(ARGV[6]), ttl = tonumber(ARGV[7]), created = now, active = now, revision = 0,
    tokens = 0, items = 0, pruned = 0, task = ''}

  -- What will be, before anything is written
  local count = tonumber(ARGV[18])
  local gone, gone_ids = {}, {}
  for i = 19, 18 + count do
    local payload = not gone[ARGV[i]] and redis.call('HGET', KEYS[2], ARGV[i])
    if payload then
      gone[ARGV[i]] = payload
      gone_ids[#gone_ids + 1] = ARGV[i]
    end
  end
  local fresh, known, bytes = {}, {}, 0
  for i = 19 + count, #ARGV, 2 do
    local id = ARGV[i]
    if not known[id] and (gone[id] or redis.call('HEXISTS', KEYS[2], id) == 0) then
      known[id] = true
      fresh[#fresh + 1] = i
      bytes = bytes + #ARGV[i + 1]
    end
  end
  if #fresh > 0 then
    if head.items - #gone_ids + #fresh > tonumber(ARGV[15]) then return {'items'} end
    for _, payload in ipairs(redis.call('HVALS', KEYS[2])) do bytes = bytes + #payload end
    for _, payload in pairs(gone) do bytes = bytes - #payload end
    if bytes > tonumber(ARGV[16]) then return {'bytes'} end
  end

  local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
  local position = last and tonumber(last) + 1 or 0
  for _, id in ipairs(gone_ids) do
    head.tokens = head.tokens - tokens_of(gone[id])
    redis.call('HDEL', KEYS[2], id)
    redis.call('ZREM', KEYS[3], id)
  end
  for _, i in ipairs(fresh) do
    head.tokens = head.tokens + tokens_of(ARGV[i + 1])
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
    redis.call('ZADD', KEYS[3], text(position), ARGV[i])
    position = position + 1
  end
  head.items = head.items - #gone_ids + #fresh
  if ARGV[13] ~= '' then
    head.pruned = head.pruned + #gone_ids
    -- A change that is replayed has a snapshot that is there already.
    if redis.call('LINDEX', KEYS[4], 0) ~= ARGV[13] then redis.call('LPUSH', KEYS[4], ARGV[13]) end
    redis.call('LTRIM', KEYS[4], 0, tonumber(ARGV[14]) - 1)
  end
  if ARGV[9] ~= '' then head.max_tokens = tonumber(ARGV[9]) end
  if ARGV[10] ~= '' then head.ttl = tonumber(ARGV[10]) end
  if ARGV[11] == '1' then head.task = ARGV[12] end
  head.revision = head.revision + 1
  save(head)
  local list = {'ok', pack(head), text(#fresh), text(#gone_ids), ARGV[13], ARGV[17]}
  remember(list)
  return list
end

function operations.snapshots()
  if not live() then return {'missing'} end
  local list = redis.call('LRANGE', KEYS[4], 0, -1)
  table.insert(list, 1, 'ok')
  return list
end

function operations.delete(first)
  if first then return first end
  local head = live()
  if not head then return {'missing'} end
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
  local list = {'ok', pack(head), '0', '0', '', ''}
  remember(list)
  return list
end

local first = first_response()
if first and first[1] == 'reused' then return first end
return operations[operation](first)
