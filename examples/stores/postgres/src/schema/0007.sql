-- The secret that a session had before, for whoever signs out by it. Who signs out by one from before this step finds nothing.
ALTER TABLE oauth_session ADD COLUMN renewed_from BYTEA;
CREATE INDEX oauth_session_renewed_from ON oauth_session (renewed_from) WHERE renewed_from IS NOT NULL;
