-- how far each resource of a sender has come; the position as 8 bytes, the highest first, so that it compares as unsigned
CREATE TABLE webhook_latest (
    source   TEXT NOT NULL,
    resource TEXT NOT NULL,
    position BLOB NOT NULL,
    PRIMARY KEY (source, resource)
) STRICT, WITHOUT ROWID;
