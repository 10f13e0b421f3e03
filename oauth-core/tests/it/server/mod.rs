//! The authorization server, as its clients and its host see it.

mod authorize;
mod client_authentication;
mod client_credentials;
mod code;
mod config;
mod faults;
mod fixture;
mod interaction;
mod introspection;
mod metadata;
mod model;
mod refresh;
mod revocation;
mod secrecy;
