-- A page of a user's sessions, the last active first, ties by id.
--
-- KEYS  1 heads   hash  session id -> "window_turns ttl created active count"
--       2 recent  zset  session id, scored by minus the last active time
-- ARGV  1 now  2 how many  3 last active time of the last session of the page before, or empty  4 its id
--
-- Answers session id and head of each.

local CHUNK = 256

local now, limit, after_active, after_id = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

-- Lua compares strings in the server's locale; listings are ordered by bytes, as zsets are.
local function is_behind(id)
  for i = 1, math.min(#id, #after_id) do
    local one, other = string.byte(id, i), string.byte(after_id, i)
    if one ~= other then return one > other end
  end
  return #id > #after_id
end

local function ttl_and_active(packed)
  local _, ttl, _, active = string.match(packed, '^(%S+) (%S+) (%S+) (%S+)')
  return tonumber(ttl), tonumber(active)
end

local from = after_active and string.format('%.0f', -after_active) or '-inf'
local page, offset = {}, 0
repeat
  local ids = redis.call('ZRANGEBYSCORE', KEYS[2], from, '+inf', 'WITHSCORES', 'LIMIT', offset, CHUNK)
  for i = 1, #ids, 2 do
    local is_page_before = after_active and tonumber(ids[i + 1]) == -after_active and not is_behind(ids[i])
    local packed = not is_page_before and redis.call('HGET', KEYS[1], ids[i])
    if packed then
      local ttl, active = ttl_and_active(packed)
      if active + ttl > now then
        page[#page + 1] = ids[i]
        page[#page + 1] = packed
        if #page == 2 * limit then return page end
      end
    end
  end
  offset = offset + CHUNK
until #ids == 0
return page
