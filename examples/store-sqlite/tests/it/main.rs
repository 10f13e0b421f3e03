//! What the stores promise a host: one binary for all of it.

mod conformance;
mod crash;
mod database;
mod group_commit;
mod outbox;
mod purge;
mod support;
