-- The buckets of rate limits: a name is a hash, a bucket the time at which it is full again.
CREATE TABLE rate_limit_bucket (
    key     BLOB PRIMARY KEY,
    full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_limit_bucket_full ON rate_limit_bucket (full_at);
