-- Automatic persisted queries. Times are nanoseconds since 1970.

CREATE TABLE graph_document (
    hash       BYTEA PRIMARY KEY,
    text       BYTEA NOT NULL,
    size       BIGINT NOT NULL,  -- counted bytes: those of the text, and 4096
    expires_at BIGINT NOT NULL
);
-- with the size, so that the sum of the sizes reads no text
CREATE INDEX graph_document_expired ON graph_document (expires_at, size);
