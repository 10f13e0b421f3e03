-- Completes the claim of an event that is handled within its request.
-- KEYS: claim
-- ARGV: digest
local claim = redis.call('GET', KEYS[1])
if claim and #claim == 72 and string.sub(claim, 1, 32) == ARGV[1] then
    redis.call('SET', KEYS[1], string.sub(claim, 1, 52), 'KEEPTTL')
end
return 0
