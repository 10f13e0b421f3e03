-- Leases the oldest events that nobody holds.
-- KEYS: free, leased, tickets, leases, last lease, names, bodies   ARGV: now, until, limit
-- `leased` has members `until:arrival` in the order of their ends; `leases` keeps `until:lease:takes` of an arrival.
for _, member in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '-', '(' .. ARGV[1] .. ';')) do
    local arrival = string.sub(member, 22)
    redis.call('ZREM', KEYS[2], member)
    redis.call('ZADD', KEYS[1], arrival, arrival)
end
local taken = {}
for _, arrival in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[3] - 1)) do
    local takes = 1
    local before = redis.call('HGET', KEYS[4], arrival)
    if before then
        local _, lost, count = string.match(before, '^(%d+):(%d+):(%d+)$')
        if not lost then
            return redis.error_reply('CORRUPT not a lease')
        end
        redis.call('HDEL', KEYS[3], lost)
        takes = count + 1
    end
    local name = redis.call('HGET', KEYS[6], arrival)
    local body = redis.call('HGET', KEYS[7], arrival)
    if not name or not body then
        return redis.error_reply('CORRUPT an arrival without its event')
    end
    local lease = string.format('%.0f', redis.call('INCR', KEYS[5]))
    redis.call('ZREM', KEYS[1], arrival)
    redis.call('ZADD', KEYS[2], 0, ARGV[2] .. ':' .. arrival)
    redis.call('HSET', KEYS[4], arrival, ARGV[2] .. ':' .. lease .. ':' .. string.format('%.0f', takes))
    redis.call('HSET', KEYS[3], lease, arrival)
    taken[#taken + 1] = { name, tonumber(lease), body, takes }
end
return taken
