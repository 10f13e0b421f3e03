-- the version of each part of the suite's tables and of each component of the host
CREATE TABLE store_component (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
