-- How often a secret or password was tried under each name, counted by kind: a kind makes no room among another.
CREATE TABLE oauth_attempt (
    kind         TEXT NOT NULL,
    key          BLOB NOT NULL,
    attempts     INTEGER NOT NULL,
    opens_at     INTEGER NOT NULL,
    forgotten_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_attempt_forgotten ON oauth_attempt (forgotten_at);
-- who is forgotten goes first
CREATE INDEX oauth_attempt_forgotten_of_kind ON oauth_attempt (kind, forgotten_at);
-- and then who is tried least
CREATE INDEX oauth_attempt_weight ON oauth_attempt (kind, attempts, forgotten_at);

-- How many names each kind has, so that no attempt counts them.
CREATE TABLE oauth_attempt_kind (
    kind  TEXT PRIMARY KEY,
    names INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER oauth_attempt_made AFTER INSERT ON oauth_attempt BEGIN
    INSERT INTO oauth_attempt_kind (kind, names) VALUES (new.kind, 1)
    ON CONFLICT (kind) DO UPDATE SET names = names + 1;
END;
CREATE TRIGGER oauth_attempt_gone AFTER DELETE ON oauth_attempt BEGIN
    UPDATE oauth_attempt_kind SET names = names - 1 WHERE kind = old.kind;
END;
