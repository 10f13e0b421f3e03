-- What a refresh token was exchanged for. Of one that was exchanged before it is not known: zeros, the hash of no token.
ALTER TABLE oauth_refresh_token ADD COLUMN successor BLOB;
ALTER TABLE oauth_refresh_token ADD COLUMN access_token BLOB;
ALTER TABLE oauth_refresh_token ADD COLUMN salt BLOB;
UPDATE oauth_refresh_token SET successor = zeroblob(32), access_token = zeroblob(32) WHERE rotated_at IS NOT NULL;
