-- Deletes names whose end has come, at most a thousand; returns their number.
-- KEYS: ends of all names
-- ARGV: now of 20 digits, prefix of the keys of names
local over = redis.call('ZRANGEBYLEX', KEYS[1], '-', '(' .. ARGV[1] .. 'g', 'LIMIT', 0, 1000)
for _, name in ipairs(over) do
    redis.call('ZREM', KEYS[1], name)
    redis.call('DEL', ARGV[2] .. string.sub(name, 21))
end
return #over
