-- Spends a name until its end, or says that it was spent before: 1 fresh, 0 seen.
-- KEYS: name, ends of all names   ARGV: now, end, and what is long over, of 20 digits; the name in hexadecimal; milliseconds to keep it
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
-- two go for each that comes, so that the ends stay as few as the names also where nobody purges
for _, over in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '-', '(' .. ARGV[3], 'LIMIT', 0, 2)) do
    redis.call('ZREM', KEYS[2], over)
end
return 1
