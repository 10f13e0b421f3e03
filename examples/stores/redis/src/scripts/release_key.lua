-- Deletes the record of this fencing token: 1 done, 0 not held.
-- KEYS: record
-- ARGV: fence
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then
    return 0
end
redis.call('DEL', KEYS[1])
return 1
