//! The authorization server, as its clients and its host see it.

mod attempts;
mod authorize;
mod client_assertion;
mod client_authentication;
mod client_credentials;
mod code;
mod config;
mod faults;
mod fixture;
mod fresh_sign_in;
mod interaction;
mod introspection;
mod metadata;
mod model;
mod opaque;
mod par;
mod reasons;
mod refresh;
mod resource_indicators;
mod retry;
mod revocation;
mod secrecy;
mod sessions;
mod token_policy;
mod userinfo;
