-- Removes a dead letter, and queues it again at the end if it is replayed.
-- KEYS: buried, dead letters, arrivals, free, names, bodies
-- ARGV: number, 1 to replay
local name, body = unpack(redis.call('HMGET', KEYS[2], ARGV[1] .. ':name', ARGV[1] .. ':body'))
if not name or not body then
    return 0
end
if ARGV[2] == '1' then
    local arrival = string.format('%.0f', redis.call('INCR', KEYS[3]))
    redis.call('HSET', KEYS[5], arrival, name)
    redis.call('HSET', KEYS[6], arrival, body)
    redis.call('ZADD', KEYS[4], arrival, arrival)
end
redis.call('ZREM', KEYS[1], ARGV[1])
for _, member in ipairs({ 'name', 'body', 'takes', 'reason', 'at' }) do
    redis.call('HDEL', KEYS[2], ARGV[1] .. ':' .. member)
end
return 1
