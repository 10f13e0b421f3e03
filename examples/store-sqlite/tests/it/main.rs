//! What the stores promise a host: one binary for all of it.

mod crash;
mod database;
mod group_commit;
mod support;
