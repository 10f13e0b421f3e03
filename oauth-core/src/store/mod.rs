//! Records of the authorization server, and the store traits that a host implements, one per
//! aggregate.
//!
//! | aggregate | trait | records |
//! |---|---|---|
//! | registered clients | [`ClientStore`] | [`RegisteredClient`] |
//! | consents of users to clients | [`ConsentStore`] | [`ConsentRecord`] |
//! | pending interactions, pushed authorization requests | [`InteractionStore`] | [`InteractionRecord`], [`PushedRequestRecord`] |
//! | codes, families, tokens | [`TokenStore`] | [`AuthorizationCodeRecord`], [`TokenFamily`], [`RefreshTokenRecord`], [`AccessTokenRecord`] |
//! | used `jti` values (replay detection) | [`ReplayStore`] | |
//! | attempts at secrets and passwords | [`AttemptStore`] | [`Tally`](crate::attempts::Tally) |
//! | locked users | [`SubjectStatus`], [`SubjectLocks`] | |
//! | sessions, password resets | [`SessionStore`] | [`SessionRecord`], [`ResetTokenRecord`] |
//! | back-channel logouts | [`LogoutStore`] | [`LogoutRecord`] |
//!
//! Codes and tokens are one aggregate, because redeeming a code creates a token family and its
//! first tokens in the same step. With two steps, a crash between them would leave a redeemed code
//! without tokens, or tokens whose code can still be redeemed.
//!
//! # Contract
//!
//! - **Each method is one linearizable step.** Concurrent calls take effect one after the other. No
//!   other call takes effect between a read and a write of the same call. A method makes its checks
//!   within its step, even if its caller has just read the same row.
//! - **A refusal changes nothing.** The store writes only for the successful outcome.
//! - **Pure functions decide the order of checks**: [`RedeemOutcome::decide`],
//!   [`RotateOutcome::decide`], [`RevokeOutcome::decide`], [`TakeOutcome::decide`],
//!   [`SessionChange::decide`], [`ResetOutcome::decide`]. A store passes the rows that it read in
//!   the step of the method. A store that uses a conditional `UPDATE` calls the function only if
//!   the `UPDATE` changed no row, to get the refusal.
//! - **Acknowledged means durable**: an acknowledged write survives a crash, unless the store is
//!   documented as volatile.
//! - **The caller passes the time.** A store reads no clock and compares with the argument `now`. A
//!   record that expires at T is valid while `now < T`.
//! - **Tombstones stay** until a purge method deletes them. A tombstone is a redeemed code or a
//!   rotated refresh token, kept to detect reuse. If a tombstone is deleted too early, the server
//!   cannot distinguish reuse from an unknown token.
//!
//! Records implement serde's traits, and contain hashes instead of secrets. A store keeps the whole
//! record, and copies the fields that its queries need into columns.
//!
//! [`memory`](crate::memory) has the reference implementations. The crate `oauth-core-conformance`
//! has tests for implementations of each trait.

mod attempt_store;
mod authorization_code;
mod client;
mod client_certificates;
#[cfg(feature = "_signatures")]
mod client_keys;
mod client_secrets;
mod consent;
mod id;
mod interaction;
mod logout;
mod pushed_request;
mod replay_store;
mod rotation;
mod session;
mod session_outcome;
mod session_store;
mod subject_status;
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
pub use client_keys::{ClientKeys, ClientKeysUri, InvalidClientKeys};
pub use client_secrets::{ClientSecrets, PreviousSecret};
pub use consent::{ConsentRecord, ConsentStore};
pub use id::{FamilyId, InvalidFamilyId, InvalidSessionId, SessionId};
pub use interaction::{AuthorizationRequest, InteractionRecord, InteractionStore, Prompt, TakeOutcome};
pub use logout::{LogoutRecord, LogoutStore};
pub use pushed_request::PushedRequestRecord;
pub use replay_store::{ReplayStore, SpendOutcome};
pub use rotation::{Rotated, RotationSalt, Successor};
pub use session::{SessionEnd, SessionRecord, SessionRenewal};
pub use session_outcome::{ResetOutcome, SessionChange, SessionOutcome};
pub use session_store::{ResetTokenRecord, Revoked, SessionStore};
pub use subject_status::{SubjectLocks, SubjectStatus};
pub use token::{
    AccessTokenRecord, AccessTokenState, FamilyRevocation, RefreshTokenRecord, RefreshTokenState,
    RevocationReason, TokenFamily,
};
pub use token_outcome::{CodeSnapshot, RedeemOutcome, RefreshTokenSnapshot, RevokeOutcome, RotateOutcome};
pub use token_store::{CodeRedemption, Rotation, TokenStore};

/// Outcome of an insert. An insert never overwrites.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum Insertion {
    /// The record was stored.
    Inserted,
    /// A record with this key exists and did not change. Keys are random, so this means that the
    /// entropy source repeats itself.
    Exists,
}
