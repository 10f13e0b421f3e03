-- Claims an Idempotency-Key, or returns the state of its record:
-- 0 claimed, 1 another request, 2 in flight, 3 expired lease, 4 settled.
-- KEYS: record
-- ARGV: now, fingerprint, fence, lease_until, expires_at, 1 to retry an expired lease, milliseconds
-- to keep
-- A record in flight has `fence` and `lease`, a settled one `outcome` and `body`; the rule is that
-- of idempotency::decide.
local record = redis.call('HMGET', KEYS[1], 'fingerprint', 'expires', 'lease', 'outcome', 'body')
local fingerprint, expires, lease, outcome, body = unpack(record)
local function is_time(text)
    return text and #text == 20 and string.match(text, '^%d+$')
end

if fingerprint or expires then
    if not fingerprint or #fingerprint ~= 32 or not is_time(expires) or not (is_time(lease) or outcome and body) then
        return redis.error_reply('CORRUPT not a record')
    end
    if expires > ARGV[1] then
        if fingerprint ~= ARGV[2] then
            return { 1 }
        end
        if outcome then
            return { 4, outcome, body }
        end
        if lease > ARGV[1] then
            return { 2, lease }
        end
        if ARGV[6] ~= '1' then
            return { 3 }
        end
    end
    redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[2], 'fence', ARGV[3], 'lease', ARGV[4], 'expires', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
return { 0 }
