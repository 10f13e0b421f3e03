-- Takes from all buckets or from none; returns their states before, 20 digits each or an empty
-- text.
-- KEYS: buckets
-- ARGV: now, then for each bucket: seconds and nanoseconds to take, latest, horizon, milliseconds
-- to keep
-- Times are 20 digits, which sort in their order. A number has 53 bits here, too few for
-- nanoseconds since 1970, so sums are made of seconds and nanoseconds separately. The rule is that
-- of http_conventions::limits::Operation.
local now = ARGV[1]

local function add(time, seconds, nanoseconds)
    local high = tonumber(string.sub(time, 1, 11)) + seconds
    local low = tonumber(string.sub(time, 12)) + nanoseconds
    if low >= 1000000000 then
        high, low = high + 1, low - 1000000000
    end
    return string.format('%011.0f%09.0f', high, low)
end

local states, after, passes = {}, {}, true
for i, key in ipairs(KEYS) do
    local seconds, nanoseconds, latest, horizon = unpack(ARGV, i * 5 - 3, i * 5)
    local state = redis.call('GET', key) or ''
    if state ~= '' and not (#state == 20 and string.match(state, '^%d+$')) then
        return redis.error_reply('CORRUPT not a bucket')
    end
    local from = now
    if state > now and state <= horizon then
        from = state
    end
    states[i] = state
    after[i] = add(from, tonumber(seconds), tonumber(nanoseconds))
    passes = passes and after[i] <= latest
end
if passes then
    for i, key in ipairs(KEYS) do
        redis.call('SET', key, after[i], 'PX', ARGV[i * 5 + 1])
    end
end
return states
