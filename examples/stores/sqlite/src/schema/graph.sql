-- Automatic persisted queries. Times are nanoseconds since 1970.

CREATE TABLE graph_document (
    hash       BLOB PRIMARY KEY,
    text       BLOB NOT NULL,
    size       INTEGER NOT NULL,  -- counted bytes: those of the text, and 4096
    expires_at INTEGER NOT NULL
) STRICT;
-- with the size, so that the sum of the sizes reads no text
CREATE INDEX graph_document_expired ON graph_document (expires_at, size);
