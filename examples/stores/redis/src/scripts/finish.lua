-- Removes an event from the queue, for the holder of its latest lease.
-- KEYS: free, leased, tickets, leases, last lease, names, bodies
-- ARGV: lease, name
local arrival = redis.call('HGET', KEYS[3], ARGV[1])
if not arrival or redis.call('HGET', KEYS[6], arrival) ~= ARGV[2] then
    return 0
end
local ends = string.match(redis.call('HGET', KEYS[4], arrival) or '', '^(%d+):')
if not ends then
    return redis.error_reply('CORRUPT not a lease')
end
redis.call('ZREM', KEYS[1], arrival)
redis.call('ZREM', KEYS[2], ends .. ':' .. arrival)
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[4], arrival)
redis.call('HDEL', KEYS[6], arrival)
redis.call('HDEL', KEYS[7], arrival)
return 1
