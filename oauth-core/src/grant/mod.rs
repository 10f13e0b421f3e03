//! What presenting a grant means: pure decisions over values, without a store, a clock or a server.
//!
//! Each decision takes the request, the stored record, the policy and the present instant, and gives a value that names
//! what to store and what to answer. [`server`](crate::server) is one caller; a host with endpoints of its own is another:
//!
//! 1. read the record ([`TokenStore::code`](crate::store::TokenStore::code)),
//! 2. decide ([`authorization_code::redeem`], [`refresh_token::rotate`], [`client_credentials::issue`]),
//! 3. make the random parts and commit in **one** store step, which checks again whatever may have changed since.
//!
//! A refusal changes nothing: a failed attempt does not consume a code or a token, so a thief who lacks the verifier
//! cannot even lock the owner out.

pub mod authorization_code;
pub mod client_credentials;
mod lifetime;
mod plan;
pub mod refresh_token;

pub use lifetime::{AccessTokenLifetime, InvalidLifetime, RefreshTokenLifetime, TokenPolicy};
pub use plan::AccessTokenPlan;

#[cfg(test)]
mod tests;
