CREATE TABLE oauth_session (
    id           BLOB PRIMARY KEY,
    hash         BLOB NOT NULL UNIQUE,
    subject      TEXT NOT NULL,
    active_until INTEGER NOT NULL,  -- the earlier of its two ends, or when it was ended
    record       TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_session_of_subject ON oauth_session (subject);
CREATE INDEX oauth_session_over ON oauth_session (active_until);

CREATE TABLE oauth_reset_token (
    hash       BLOB PRIMARY KEY,
    subject    TEXT NOT NULL UNIQUE,  -- '' where it is nobody's
    expires_at INTEGER NOT NULL,
    record     TEXT NOT NULL
) STRICT;
CREATE INDEX oauth_reset_token_expired ON oauth_reset_token (expires_at);

-- who granted a code or a family, and in which session: out of the record, so that rows from before have it too
ALTER TABLE oauth_code ADD COLUMN subject TEXT AS (record ->> '$.grant.subject');
ALTER TABLE oauth_code ADD COLUMN session TEXT AS (record ->> '$.grant.session');
CREATE INDEX oauth_code_of_subject ON oauth_code (subject) WHERE redeemed IS NULL;
CREATE INDEX oauth_code_of_session ON oauth_code (session) WHERE redeemed IS NULL AND session IS NOT NULL;
ALTER TABLE oauth_family ADD COLUMN subject TEXT AS (record ->> '$.grant.subject');
ALTER TABLE oauth_family ADD COLUMN session TEXT AS (record ->> '$.grant.session');
CREATE INDEX oauth_family_of_subject ON oauth_family (subject) WHERE revocation IS NULL;
CREATE INDEX oauth_family_of_session ON oauth_family (session) WHERE revocation IS NULL AND session IS NOT NULL;
