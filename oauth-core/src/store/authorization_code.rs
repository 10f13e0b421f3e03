use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{FamilyId, SessionId, SessionRecord};
use crate::lifetime::{AccessTokenLifetime, RefreshTokenLifetime};
use crate::pkce::CodeChallenge;
use crate::secret::TokenHash;
use crate::session_state::SessionState;
use crate::time::later;
use crate::vocabulary::{Audience, ClientId, Nonce, RedirectUri, Scopes, Subject, Thumbprint};

/// What a user granted to a client: carried from the code to the family and into every token of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Grant {
    /// To whom.
    pub client_id: ClientId,
    /// By whom.
    pub subject: Subject,
    /// How much. A refresh may ask for less, never for more.
    pub scopes: Scopes,
    /// For use at these resource servers.
    pub audience: Vec<Audience>,
    /// When the user last proved who they are.
    pub auth_time: SystemTime,
    /// The session in which they did, if what was granted is to end when it is ended, which a timeout does not do.
    pub session: Option<SessionId>,
    /// The nonce of the authorization request.
    pub nonce: Option<Nonce>,
    /// The user's address, when the host knows it.
    pub email: Option<String>,
    /// The user's name, when the host knows it.
    pub name: Option<String>,
}

impl Grant {
    /// What `subject`, who proved it at `auth_time`, granted to the client: `scopes`, for no resource server yet.
    #[must_use]
    pub const fn new(client_id: ClientId, subject: Subject, scopes: Scopes, auth_time: SystemTime) -> Self {
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
        }
    }

    /// Returns `true` if the grant names no session, or `session` is the named one and is active at `now`. Pass `None` for a
    /// session that the store did not find.
    #[must_use]
    pub fn is_session_active(&self, session: Option<&SessionRecord>, now: SystemTime) -> bool {
        self.session.is_none_or(|id| {
            session.is_some_and(|session| session.id == id && session.state(now) == SessionState::Active)
        })
    }
}

/// How long a code waits for its client, which is told at once.
const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// An authorization code, fresh or spent.
///
/// A spent one stays as a tombstone: presenting it again is how a theft shows.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct AuthorizationCodeRecord {
    /// The hash of the code.
    pub hash: TokenHash,
    /// Where the code was sent.
    pub redirect_uri: RedirectUri,
    /// What the verifier must hash to.
    pub code_challenge: CodeChallenge,
    /// The key that the client must prove to have, if it said so with its request.
    pub dpop_jkt: Option<Thumbprint>,
    /// What the code buys.
    pub grant: Grant,
    /// When it was issued.
    pub issued_at: SystemTime,
    /// The instant from which a fresh code buys nothing.
    pub expires_at: SystemTime,
    /// The instant from which a spent code may be forgotten: no token it bought can be alive.
    pub retain_until: SystemTime,
    /// The family it bought, once spent. The only field that changes.
    pub redeemed: Option<FamilyId>,
}

impl AuthorizationCodeRecord {
    /// A fresh code of this hash, sent to `redirect_uri` at `issued_at`: good for sixty seconds.
    #[must_use]
    pub fn new(
        hash: TokenHash,
        redirect_uri: RedirectUri,
        code_challenge: CodeChallenge,
        grant: Grant,
        issued_at: SystemTime,
    ) -> Self {
        let expires_at = later(issued_at, CODE_LIFETIME);
        // lifetimes may be changed meanwhile; nothing that a code buys outlives the longest
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

    /// With the key that the client must prove to have.
    #[must_use]
    pub fn with_dpop_jkt(self, dpop_jkt: Option<Thumbprint>) -> Self {
        Self { dpop_jkt, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_timeouts::SessionTimeouts;

    /// S3: a grant of no session needs none; any other needs its own, and needs it active.
    #[test]
    fn grant_needs_its_own_session_active() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let session = |byte| {
            let (hash, id) = (TokenHash::of("cookie"), SessionId::from_bytes([byte; 16]));
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
