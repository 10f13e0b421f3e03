-- Keeps a text until the later of two ends; returns 0 for a new text, 1 for a known one.
-- KEYS: text
-- ARGV: now and end of 20 digits, milliseconds to keep it, text
local kept = redis.call('GET', KEYS[1])
if kept then
    local ends = string.sub(kept, 1, 20)
    if not string.match(ends, '^%d+$') or #ends ~= 20 then
        return redis.error_reply('CORRUPT not a text')
    end
    if ARGV[1] < ends then
        if ends < ARGV[2] then
            redis.call('SET', KEYS[1], ARGV[2] .. ARGV[4], 'PX', ARGV[3])
        end
        return 1
    end
end
redis.call('SET', KEYS[1], ARGV[2] .. ARGV[4], 'PX', ARGV[3])
return 0
