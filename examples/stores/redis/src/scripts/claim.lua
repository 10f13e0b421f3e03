-- Claims an event and queues it, in one step.
-- KEYS: claim, arrivals, free, names, bodies
-- ARGV: now, expires_at, milliseconds to keep, digest, name, body
-- A claim is its digest of 32 bytes and the 20 digits of its end.
local claim = redis.call('GET', KEYS[1])
if claim then
    if #claim ~= 52 or not string.match(claim, '^%d+$', 33) then
        return redis.error_reply('CORRUPT not a claim')
    end
    if string.sub(claim, 33) > ARGV[1] then
        if string.sub(claim, 1, 32) == ARGV[4] then
            return 1
        end
        return 2
    end
end
-- the claim is last: if a command before it is refused, the sender retries and nothing is lost
local arrival = string.format('%.0f', redis.call('INCR', KEYS[2]))
redis.call('HSET', KEYS[4], arrival, ARGV[5])
redis.call('HSET', KEYS[5], arrival, ARGV[6])
redis.call('ZADD', KEYS[3], arrival, arrival)
redis.call('SET', KEYS[1], ARGV[4] .. ARGV[2], 'PX', ARGV[3])
return 0
