-- Leases the oldest events that no lease holds.
-- KEYS: free, leased, tickets, leases, last lease, names, bodies, unreadable
-- ARGV: now, until, limit
-- `leased` has members `until:arrival` in the order of their ends; `leases` keeps
-- `until:lease:takes` of an arrival.
for _, member in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '-', '(' .. ARGV[1] .. ';')) do
    local arrival = string.sub(member, 22)
    redis.call('ZREM', KEYS[2], member)
    redis.call('ZADD', KEYS[1], arrival, arrival)
end

-- nil if it is unreadable
local function take(arrival)
    local name = redis.call('HGET', KEYS[6], arrival)
    local body = redis.call('HGET', KEYS[7], arrival)
    local before = redis.call('HGET', KEYS[4], arrival)
    if not name or not body or before and not string.match(before, '^%d+:%d+:%d+$') then
        return nil
    end
    local takes = 1
    if before then
        local lost, count = string.match(before, ':(%d+):(%d+)$')
        redis.call('HDEL', KEYS[3], lost)
        takes = count + 1
    end
    local lease = string.format('%.0f', redis.call('INCR', KEYS[5]))
    redis.call('ZADD', KEYS[2], 0, ARGV[2] .. ':' .. arrival)
    redis.call('HSET', KEYS[4], arrival, ARGV[2] .. ':' .. lease .. ':' .. string.format('%.0f', takes))
    redis.call('HSET', KEYS[3], lease, arrival)
    return { name, tonumber(lease), body, takes }
end

local taken, unreadable = {}, false
for _, arrival in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[3] - 1)) do
    redis.call('ZREM', KEYS[1], arrival)
    local event = take(arrival)
    if event then
        taken[#taken + 1] = event
    else
        -- an unreadable arrival would stop all that came after it
        redis.call('SADD', KEYS[8], arrival)
        unreadable = true
    end
end
if unreadable and #taken == 0 then
    return redis.error_reply('CORRUPT an arrival without its event')
end
return taken
