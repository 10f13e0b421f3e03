-- Times are nanoseconds since 1970.

CREATE TABLE idempotency_record (
    key         BYTEA PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    fence       BYTEA,          -- null when settled
    state       TEXT NOT NULL,  -- as JSON, without the body
    body        BYTEA,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX idempotency_record_expired ON idempotency_record (expires_at);

-- Rate-limit buckets. Unlogged: after a crash of the server they are full. There is no index on the
-- time, so that a spend updates none; a purge scans the table, which has a row per recent caller.
CREATE UNLOGGED TABLE rate_limit_bucket (
    key     BYTEA PRIMARY KEY,
    full_at BIGINT NOT NULL
) WITH (fillfactor = 70);

-- Takes from all buckets or from none; returns their states before. The keys are in ascending
-- order, so that no two calls deadlock; the rule is that of http_conventions::limits::Operation.
CREATE FUNCTION rate_limit_spend(keys BYTEA[], "at" BIGINT, increments BIGINT[], latest BIGINT[], horizons BIGINT[])
RETURNS BIGINT[] LANGUAGE plpgsql AS $$
DECLARE
    states BIGINT[] := '{}';
    after BIGINT[] := '{}';
    state BIGINT;
    passes BOOLEAN := true;
BEGIN
    FOR i IN 1 .. cardinality(keys) LOOP
        LOOP
            SELECT full_at INTO state FROM rate_limit_bucket WHERE key = keys[i] FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO rate_limit_bucket (key, full_at) VALUES (keys[i], 0) ON CONFLICT (key) DO NOTHING;
        END LOOP;
        states[i] := state;
        after[i] := CASE WHEN state > horizons[i] THEN "at" ELSE GREATEST(state, "at") END + increments[i];
        passes := passes AND after[i] <= latest[i];
    END LOOP;
    IF passes THEN
        FOR i IN 1 .. cardinality(keys) LOOP
            UPDATE rate_limit_bucket SET full_at = after[i] WHERE key = keys[i];
        END LOOP;
    END IF;
    RETURN states;
END
$$;
