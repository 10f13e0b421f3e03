-- names that may be used once and were
CREATE TABLE oauth_replay (
    key        BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_replay_expired ON oauth_replay (expires_at);
