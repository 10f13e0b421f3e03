//! What the server keeps: its records, and one store trait per aggregate that a host implements.
//!
//! | aggregate | trait | records |
//! |---|---|---|
//! | registered clients | [`ClientStore`] | [`RegisteredClient`] |
//! | sign-ins under way, pushed requests | [`InteractionStore`] | [`InteractionRecord`], [`PushedRequestRecord`] |
//! | codes, families, tokens | [`TokenStore`] | [`AuthorizationCodeRecord`], [`TokenFamily`], [`RefreshTokenRecord`], [`AccessTokenRecord`] |
//! | names that may be used once | [`ReplayStore`] | |
//! | attempts at secrets and passwords | [`AttemptStore`] | [`Tally`](crate::attempts::Tally) |
//! | sessions, password resets | [`SessionStore`] | [`SessionRecord`], [`ResetTokenRecord`] |
//!
//! Codes and tokens are one aggregate because redeeming a code creates a family and its first tokens in the same
//! step: a crash in between would leave a spent code that bought nothing, or a bought token whose code still works.
//!
//! # What every store must guarantee
//!
//! - **Each verb is one linearizable step.** Two callers of the same verb see it happen in some order, never mixed.
//!   No verb may be a read followed by a write that another caller can get between. What a verb checks, it checks
//!   inside that step, also when its caller has just read the same row.
//! - **An outcome other than the successful one changed nothing.**
//! - **The order of checks is a pure function** where there are several: [`RedeemOutcome::decide`], [`RotateOutcome::decide`],
//!   [`RevokeOutcome::decide`], [`TakeOutcome::decide`], [`SessionChange::decide`], [`ResetOutcome::decide`]. A store gives it what it
//!   read in the step of the verb, or calls it to name the refusal after an `UPDATE` that changed no row.
//! - **Acknowledged is durable**, as far as the store is durable at all: what was answered survives a crash.
//! - **Expiry is data.** `now` is an argument; a store asks no clock. What expires at T is alive while `now < T`.
//! - **Tombstones stay** until the purge verb is called with a `now` that lets them go: a spent code or a rotated
//!   refresh token that is forgotten too early turns a theft into an unknown token.
//!
//! Records are serde values with hashes in place of every secret. A store keeps the whole record and copies into
//! columns what it searches by.
//! [`memory`](crate::memory) holds the reference implementations; the crate
//! `oauth-core-conformance` has a kit of tests for each trait.

mod attempt_store;
mod authorization_code;
mod client;
mod client_certificates;
#[cfg(feature = "_signatures")]
mod client_keys;
mod client_secrets;
mod id;
mod interaction;
mod pushed_request;
mod replay_store;
mod rotation;
mod session;
mod session_outcome;
mod session_store;
mod token;
mod token_outcome;
mod token_store;

pub use attempt_store::AttemptStore;
pub use authorization_code::{AuthorizationCodeRecord, Grant};
pub use client::{
    ClientAuthentication, ClientStore, GrantType, NotSenderConstrained, RegisteredClient, SenderConstraint,
};
pub use client_certificates::{PreviousCertificate, RegisteredCertificates};
#[cfg(feature = "_signatures")]
pub use client_keys::{ClientKeys, InvalidClientKeys};
pub use client_secrets::{ClientSecrets, PreviousSecret};
pub use id::{FamilyId, InvalidFamilyId, InvalidSessionId, SessionId};
pub use interaction::{AuthorizationRequest, InteractionRecord, InteractionStore, Prompt, TakeOutcome};
pub use pushed_request::PushedRequestRecord;
pub use replay_store::{ReplayStore, SpendOutcome};
pub use rotation::{Rotated, RotationSalt, Successor};
pub use session::{SessionEnd, SessionRecord, SessionRenewal};
pub use session_outcome::{ResetOutcome, SessionChange, SessionOutcome};
pub use session_store::{ResetTokenRecord, Revoked, SessionStore};
pub use token::{
    AccessTokenRecord, AccessTokenState, FamilyRevocation, RefreshTokenRecord, RefreshTokenState,
    RevocationReason, TokenFamily,
};
pub use token_outcome::{CodeSnapshot, RedeemOutcome, RefreshTokenSnapshot, RevokeOutcome, RotateOutcome};
pub use token_store::{CodeRedemption, Rotation, TokenStore};

/// What became of an insert, which never overwrites.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum Insertion {
    /// The record was stored.
    Inserted,
    /// A record of that key was there and is unchanged. Keys come from 256 random bits, so this means broken entropy.
    Exists,
}
