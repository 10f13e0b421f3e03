-- Ends the latest lease of an event: it can be taken again from a time on.
-- KEYS: free, leased, tickets, leases, last lease, names, bodies
-- ARGV: lease, name, at
local arrival = redis.call('HGET', KEYS[3], ARGV[1])
if not arrival or redis.call('HGET', KEYS[6], arrival) ~= ARGV[2] then
    return 0
end
local ends, takes = string.match(redis.call('HGET', KEYS[4], arrival) or '', '^(%d+):%d+:(%d+)$')
if not ends then
    return redis.error_reply('CORRUPT not a lease')
end
redis.call('ZREM', KEYS[1], arrival)
redis.call('ZREM', KEYS[2], ends .. ':' .. arrival)
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('ZADD', KEYS[2], 0, ARGV[3] .. ':' .. arrival)
redis.call('HSET', KEYS[4], arrival, ARGV[3] .. ':' .. ARGV[1] .. ':' .. takes)
return 1
