-- Times are nanoseconds since 1970, hashes and bodies BLOBs.

CREATE TABLE idempotency_record (
    key         BLOB PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    fence       BLOB,           -- null when settled
    state       TEXT NOT NULL,  -- as JSON, without the body
    body        BLOB,
    expires_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_record_expired ON idempotency_record (expires_at);

-- Rate-limit buckets: a hash as the name, and the time at which the bucket is full.
CREATE TABLE rate_limit_bucket (
    key     BLOB PRIMARY KEY,
    full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_limit_bucket_full ON rate_limit_bucket (full_at);
