//! Tests of the public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod absurd_clock;
mod certificate_names;
mod client;
mod flawed_attempts;
mod flawed_replays;
mod flawed_stores;
mod handles;
mod hostile_input;
mod introspection;
mod issuer_profiles;
mod memory_stores;
mod possession;
mod provider;
mod records;
mod relying_party;
mod remote_keys;
mod resource;
mod server;
mod session;
mod shared_ports;
mod sign_in;
mod sign_ins;
mod token_source;
mod truncated;
