-- Drops names whose end has come, a thousand at most, and answers how many those were.
-- KEYS: ends of all names   ARGV: now of 20 digits, what the key of a name begins with
local over = redis.call('ZRANGEBYLEX', KEYS[1], '-', '(' .. ARGV[1] .. 'g', 'LIMIT', 0, 1000)
for _, name in ipairs(over) do
    redis.call('ZREM', KEYS[1], name)
    redis.call('DEL', ARGV[2] .. string.sub(name, 21))
end
return #over
