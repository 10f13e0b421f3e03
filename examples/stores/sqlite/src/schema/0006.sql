-- requests that clients have pushed
CREATE TABLE oauth_pushed_request (
    hash         BLOB PRIMARY KEY,
    retain_until INTEGER NOT NULL,
    completed    INTEGER NOT NULL,
    record       TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_pushed_request_purgeable ON oauth_pushed_request (retain_until);
