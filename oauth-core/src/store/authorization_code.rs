use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{FamilyId, SessionId, SessionRecord};
use crate::lifetime::{AccessTokenLifetime, RefreshTokenLifetime};
use crate::pkce::CodeChallenge;
use crate::secret::TokenHash;
use crate::session_state::SessionState;
use crate::time::later;
use crate::vocabulary::{Audience, Claims, ClientId, Nonce, RedirectUri, Scopes, Subject, Thumbprint};

/// Authorization of a client by a user. It is part of the record of the code, and later of the
/// record of the token family.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Grant {
    /// Client that received the grant.
    pub client_id: ClientId,
    /// User who gave the grant.
    pub subject: Subject,
    /// Granted scopes. A refresh may narrow them and never widens them.
    pub scopes: Scopes,
    /// Resource servers at which the tokens are valid.
    pub audience: Vec<Audience>,
    /// Instant of the user's last authentication.
    pub auth_time: SystemTime,
    /// Session in which the user gave the grant. Ending this session revokes the grant; a timeout
    /// of the session does not. `None`: the grant does not depend on a session.
    pub session: Option<SessionId>,
    /// `nonce` of the authorization request.
    pub nonce: Option<Nonce>,
    /// Email address of the user, if the host knows it.
    pub email: Option<String>,
    /// Name of the user, if the host knows it.
    pub name: Option<String>,
    /// Further claims of the sign-in.
    pub claims: Claims,
}

impl Grant {
    /// Creates a grant of `scopes` to the client by `subject`, who authenticated at `auth_time`.
    /// The audience is empty, and the optional fields are `None`.
    #[must_use]
    pub fn new(client_id: ClientId, subject: Subject, scopes: Scopes, auth_time: SystemTime) -> Self {
        Self {
            client_id,
            subject,
            scopes,
            audience: Vec::new(),
            auth_time,
            session: None,
            nonce: None,
            email: None,
            name: None,
            claims: Claims::default(),
        }
    }

    /// Returns `true` if the grant names no session, or if `session` is the named session and
    /// active at `now`. Pass `None` if the store did not find the session.
    #[must_use]
    pub fn is_session_active(&self, session: Option<&SessionRecord>, now: SystemTime) -> bool {
        self.session.is_none_or(|id| {
            session.is_some_and(|session| session.id == id && session.state(now) == SessionState::Active)
        })
    }
}

/// Lifetime of a code.
const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// An authorization code, redeemed or not.
///
/// A redeemed code stays in the store as a tombstone. If the code is presented again, this is a
/// replay, and the server revokes the token family of the code.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct AuthorizationCodeRecord {
    /// SHA-256 hash of the code.
    pub hash: TokenHash,
    /// Redirect URI to which the code was sent.
    pub redirect_uri: RedirectUri,
    /// S256 code challenge that the client's code verifier must match.
    pub code_challenge: CodeChallenge,
    /// Thumbprint of the DPoP key that the client must prove, if the authorization request had
    /// `dpop_jkt` or a pushed request had a DPoP proof.
    pub dpop_jkt: Option<Thumbprint>,
    /// Grant, which the token family receives at redemption.
    pub grant: Grant,
    /// Instant of issue.
    pub issued_at: SystemTime,
    /// Instant from which the code is refused, if it was not redeemed.
    pub expires_at: SystemTime,
    /// Instant from which a redeemed code may be deleted: all tokens of its family have expired by
    /// then.
    pub retain_until: SystemTime,
    /// Token family that the redemption created. This is the only field that changes.
    pub redeemed: Option<FamilyId>,
}

impl AuthorizationCodeRecord {
    /// Creates a code that is not redeemed and is sent to `redirect_uri` at `issued_at`. The code
    /// expires after 60 seconds.
    #[must_use]
    pub fn new(
        hash: TokenHash,
        redirect_uri: RedirectUri,
        code_challenge: CodeChallenge,
        grant: Grant,
        issued_at: SystemTime,
    ) -> Self {
        let expires_at = later(issued_at, CODE_LIFETIME);
        // the host may change its lifetimes before the redemption; these are the maximum
        let longest = RefreshTokenLifetime::MAX_ABSOLUTE + AccessTokenLifetime::MAX;
        Self {
            hash,
            redirect_uri,
            code_challenge,
            dpop_jkt: None,
            grant,
            issued_at,
            expires_at,
            retain_until: later(expires_at, longest),
            redeemed: None,
        }
    }

    /// Sets the thumbprint of the DPoP key that the client must prove.
    #[must_use]
    pub fn with_dpop_jkt(self, dpop_jkt: Option<Thumbprint>) -> Self {
        Self { dpop_jkt, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_timeouts::SessionTimeouts;

    /// S3: a grant without a session is always valid; a grant with a session only while this
    /// session is active.
    #[test]
    fn grant_needs_its_own_session_active() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let session = |byte| {
            let (hash, id) = (TokenHash::new("cookie"), SessionId::from_bytes([byte; 16]));
            let timeouts = SessionTimeouts::default();
            SessionRecord::new(hash, id, "ada".parse().unwrap(), timeouts, now)
        };
        let free = Grant::new(
            "web".parse().unwrap(),
            "ada".parse().unwrap(),
            Scopes::default(),
            now,
        );
        let mut bound = free.clone();
        bound.session = Some(session(1).id);
        let (own, other) = (session(1), session(2));
        let end = own.active_until();
        for (found, at, expected) in [
            (None, now, false),
            (Some(&other), now, false),
            (Some(&own), now, true),
            (Some(&own), end - Duration::from_nanos(1), true),
            (Some(&own), end, false),
        ] {
            assert!(free.is_session_active(found, at));
            assert_eq!(bound.is_session_active(found, at), expected);
        }
    }
}
