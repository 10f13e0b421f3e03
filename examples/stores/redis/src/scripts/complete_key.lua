-- Settles the record of this fencing token: 1 done, 0 not held.
-- KEYS: record
-- ARGV: fence, outcome, body, expires_at
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then
    return 0
end
local before = redis.call('HGET', KEYS[1], 'expires')
if not before or #before ~= 20 or not string.match(before, '^%d+$') then
    return redis.error_reply('CORRUPT not a record')
end
-- moves the key's expiry as far as the record's end; a number holds seconds and nanoseconds exactly
-- only if they are separate
local seconds = tonumber(string.sub(ARGV[4], 1, 11)) - tonumber(string.sub(before, 1, 11))
local nanoseconds = tonumber(string.sub(ARGV[4], 12)) - tonumber(string.sub(before, 12))
local keep = redis.call('PTTL', KEYS[1]) + seconds * 1000 + math.ceil(nanoseconds / 1000000)
redis.call('HDEL', KEYS[1], 'fence', 'lease')
redis.call('HSET', KEYS[1], 'outcome', ARGV[2], 'body', ARGV[3], 'expires', ARGV[4])
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(keep, 1)))
return 1
