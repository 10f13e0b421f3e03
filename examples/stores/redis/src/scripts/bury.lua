-- Moves an event from the queue to the dead letters, for the holder of its latest lease.
-- KEYS: free, leased, tickets, leases, last lease, names, bodies, buried, dead letters
-- ARGV: lease, name, reason, now
-- `buried` has the numbers of the dead letters, `dead letters` keeps name, body, takes, reason and
-- time of each in a hash `number:member`.
local arrival = redis.call('HGET', KEYS[3], ARGV[1])
if not arrival or redis.call('HGET', KEYS[6], arrival) ~= ARGV[2] then
    return 0
end
local ends, takes = string.match(redis.call('HGET', KEYS[4], arrival) or '', '^(%d+):%d+:(%d+)$')
local body = redis.call('HGET', KEYS[7], arrival)
if not ends or not body then
    return redis.error_reply('CORRUPT not a lease')
end
redis.call('HSET', KEYS[9], arrival .. ':name', ARGV[2], arrival .. ':body', body, arrival .. ':takes', takes,
    arrival .. ':reason', ARGV[3], arrival .. ':at', ARGV[4])
redis.call('ZADD', KEYS[8], arrival, arrival)
redis.call('ZREM', KEYS[1], arrival)
redis.call('ZREM', KEYS[2], ends .. ':' .. arrival)
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[4], arrival)
redis.call('HDEL', KEYS[6], arrival)
redis.call('HDEL', KEYS[7], arrival)
return 1
