-- version of each component of the suite and of the host
CREATE TABLE store_component (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
