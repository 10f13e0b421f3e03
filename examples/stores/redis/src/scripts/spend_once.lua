-- Marks a name as used until its end: 1 fresh, 0 used before.
-- KEYS: name, ends of all names
-- ARGV: now, end, and the end of the oldest names to keep, of 20 digits; the name in hexadecimal;
-- milliseconds to keep it
local ends = redis.call('GET', KEYS[1])
if ends then
    if not (#ends == 20 and string.match(ends, '^%d+$')) then
        return redis.error_reply('CORRUPT not a spent name')
    end
    if ARGV[1] < ends then
        return 0
    end
    redis.call('ZREM', KEYS[2], ends .. ARGV[4])
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[5])
redis.call('ZADD', KEYS[2], 0, ARGV[2] .. ARGV[4])
-- two are deleted for each new one, so that the ends stay bounded without a purge
for _, over in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '-', '(' .. ARGV[3], 'LIMIT', 0, 2)) do
    redis.call('ZREM', KEYS[2], over)
end
return 1
