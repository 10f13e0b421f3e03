-- Advances a resource, or returns the reason of a refusal: 0 newer, 1 the same, 2 older.
-- KEYS: latest
-- ARGV: position of 20 digits
local latest = redis.call('GET', KEYS[1])
if latest then
    if not string.match(latest, '^%d+$') or #latest ~= 20 then
        return redis.error_reply('CORRUPT not a position')
    end
    if latest == ARGV[1] then
        return 1
    end
    if latest > ARGV[1] then
        return 2
    end
end
redis.call('SET', KEYS[1], ARGV[1])
return 0
