-- What a refresh token was exchanged for. Of one that was exchanged before it is not known: zeros, the hash of no token.
ALTER TABLE oauth_refresh_token ADD COLUMN successor BYTEA, ADD COLUMN access_token BYTEA, ADD COLUMN salt BYTEA;
UPDATE oauth_refresh_token SET successor = decode(repeat('00', 32), 'hex'), access_token = decode(repeat('00', 32), 'hex')
    WHERE rotated_at IS NOT NULL;
