#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod attempts;
pub mod basic;
#[cfg(feature = "_signatures")]
pub mod client;
#[cfg(feature = "_signatures")]
pub mod dpop;
pub mod error;
pub mod event;
#[cfg(feature = "_signatures")]
mod exchange;
pub mod grant;
mod html;
#[cfg(feature = "_signatures")]
pub mod jose;
#[cfg(feature = "_signatures")]
mod json;
mod lifetime;
pub mod memory;
pub mod mtls;
pub mod params;
pub mod pkce;
pub mod ports;
mod random;
#[cfg(feature = "_signatures")]
pub mod resource;
mod response;
pub mod secret;
#[cfg(feature = "_signatures")]
pub mod server;
pub mod session;
mod session_state;
mod session_timeouts;
pub mod store;
mod time;
pub mod vocabulary;

#[cfg(feature = "_signatures")]
#[doc(inline)]
pub use self::{
    client::{Client, Provider},
    jose::{IssuerProfile, RemoteKeySet, SigningKey, SigningKeys},
    resource::{Introspection, ResourceServer},
    server::AuthorizationServer,
};
#[doc(inline)]
pub use self::{
    pkce::{CodeChallenge, CodeVerifier},
    session::{SessionCookie, Sessions},
    store::RegisteredClient,
    vocabulary::{Issuer, Scopes},
};
