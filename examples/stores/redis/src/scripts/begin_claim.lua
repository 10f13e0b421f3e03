-- Claims an event that is handled within its request.
-- KEYS: claim
-- ARGV: now, expires_at, milliseconds to keep, digest, end of the lease
-- A claim is its digest of 32 bytes, the 20 digits of its end, and until it is complete the 20
-- digits of the end of its lease.
local claim = redis.call('GET', KEYS[1])
if claim then
    if (#claim ~= 52 and #claim ~= 72) or not string.match(claim, '^%d+$', 33) then
        return redis.error_reply('CORRUPT not a claim')
    end
    if string.sub(claim, 33, 52) > ARGV[1] then
        if string.sub(claim, 1, 32) ~= ARGV[4] then
            return 'conflict'
        end
        if #claim == 52 then
            return 'duplicate'
        end
        if string.sub(claim, 53) > ARGV[1] then
            return string.sub(claim, 53)
        end
        redis.call('SET', KEYS[1], string.sub(claim, 1, 52) .. ARGV[5], 'KEEPTTL')
        return 'claimed'
    end
end
redis.call('SET', KEYS[1], ARGV[4] .. ARGV[2] .. ARGV[5], 'PX', ARGV[3])
return 'claimed'
