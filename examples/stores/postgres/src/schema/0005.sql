-- names that may be used once and were
CREATE TABLE oauth_replay (
    key        BYTEA PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX oauth_replay_expired ON oauth_replay (expires_at);
