-- the secret that a session had before, as in the record: for whoever signs out by it
ALTER TABLE oauth_session ADD COLUMN renewed_from TEXT AS (record ->> '$.renewed_from');
CREATE INDEX oauth_session_renewed_from ON oauth_session (renewed_from) WHERE renewed_from IS NOT NULL;
