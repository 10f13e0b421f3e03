//! Integration tests, one file per behaviour.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod attributes;
mod batches;
mod build;
mod chain;
mod conformance;
mod connections;
mod cost;
mod costly;
mod documents;
mod errors;
mod executing;
mod execution;
mod field_errors;
mod fixture;
mod front_end;
mod guards;
mod hostile;
mod http;
mod incremental;
mod introspection;
mod limits;
mod look_ahead;
mod messages;
mod metering;
mod modes;
mod multipart;
mod node;
mod observability;
mod oracle;
mod panics;
mod persisted;
mod policies;
mod prices;
mod reassembled;
mod relay;
mod schema_text;
mod single_connection;

mod subscriptions;
mod transport_ws;
mod type_rules;
mod validation;
mod wire;
