-- Lists dead letters: number, name, body, takes, reason and time of each.
-- KEYS: buried, dead letters
-- ARGV: number after which the page begins, or -1; prefix of the names, or an empty text; limit
local found, offset = {}, 0
local limit = tonumber(ARGV[3])
while #found < limit do
    local numbers = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf', 'LIMIT', offset, 100)
    if #numbers == 0 then
        break
    end
    offset = offset + #numbers
    for _, number in ipairs(numbers) do
        local letter = redis.call('HMGET', KEYS[2], number .. ':name', number .. ':body', number .. ':takes',
            number .. ':reason', number .. ':at')
        if not (letter[1] and letter[2] and letter[3] and letter[4] and letter[5]) then
            return redis.error_reply('CORRUPT not a dead letter')
        end
        if #found < limit and string.sub(letter[1], 1, #ARGV[2]) == ARGV[2] then
            table.insert(letter, 1, number)
            found[#found + 1] = letter
        end
    end
end
return found
