-- How often a secret or password was tried under each name. After a crash of the server nobody has tried: not worth a write to its log
-- for each guess.
CREATE UNLOGGED TABLE oauth_attempt (
    key          BYTEA PRIMARY KEY,
    attempts     BIGINT NOT NULL,
    opens_at     BIGINT NOT NULL,
    forgotten_at BIGINT NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX oauth_attempt_forgotten ON oauth_attempt (forgotten_at);
