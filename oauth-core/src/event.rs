//! What happened, for the host's audit log and its alarms.
//!
//! An endpoint of the [`server`](crate::server) returns its events with the answer; [`Sessions`](crate::session::Sessions) hand them to
//! whom [`with_events`](crate::session::Sessions::with_events) names. The code of each is stable:
//!
//! | code | from | what it reports |
//! |---|---|---|
//! | `access_token_revoked` | `server` | One access token was revoked on request |
//! | `attempts_exceeded` | `server`, `session` | Somebody has to wait: too much was wrong in the name of a client, or too many letters were asked for to one address |
//! | `authorization_denied` | `server` | A user said no |
//! | `authorization_granted` | `server` | A user said yes and a code was issued |
//! | `authorization_requested` | `server` | A checked request waits for a user |
//! | `client_authentication_failed` | `server` | A client was not who it said it was. Count these: somebody may be guessing a secret |
//! | `code_replayed` | `server` | A spent code came again, with everything else in order: it was stolen |
//! | `family_revoked` | `server` | A family was revoked |
//! | `refresh_token_reused` | `server` | A rotated refresh token came again: it was stolen, or a client does not store what it is given |
//! | `refresh_token_rotated` | `server` | A refresh token was exchanged |
//! | `request_pushed` | `server` | A client pushed an authorization request |
//! | `request_refused` | `server` | A request was refused and nothing changed |
//! | `reset_token_issued` | `session` | A password-reset token was issued, for the address of a user |
//! | `reset_token_redeemed` | `session` | A password-reset token was redeemed; everything of its user ends in the same step |
//! | `retry_served` | `server` | A refresh whose answer was lost was answered once more, with the same tokens |
//! | `server_failed` | `server` | Something below the server failed, and the peer was told to come back |
//! | `session_ended` | `session` | A session was ended, with what was granted in it |
//! | `session_renewed` | `session` | A session goes on under another secret |
//! | `signed_in` | `session` | A session began, or goes on under another secret: its user has just proven who they are |
//! | `signed_out_everywhere` | `session` | Everything of a user was ended, but for the session that is named, if one is: sessions, codes, families and reset tokens |
//! | `tokens_issued` | `server` | Tokens were issued |

use crate::error::Reason;
use crate::secret::TokenHash;
use crate::store::{FamilyId, GrantType, RevocationReason, SessionId};
use crate::vocabulary::{ClientId, Subject};

/// Something that happened at an endpoint or to a session, for the host's audit log and its alarms.
///
/// The peer is told as little as the RFCs allow; an event says precisely what it was. Nothing secret is inside: tokens and
/// subjects are hashes, the rest are names.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AuthEvent {
    /// What happened.
    pub kind: AuthEventKind,
    /// The precise reason behind a refusal or a fault.
    pub reason: Option<Reason>,
    /// The grant that tokens were issued for.
    pub grant_type: Option<GrantType>,
    /// Why a family was revoked.
    pub revocation: Option<RevocationReason>,
    /// The client, as authenticated; as claimed when authentication failed.
    pub client_id: Option<ClientId>,
    /// The SHA-256 of the user's subject.
    pub subject: Option<TokenHash>,
    /// The session that began, was renewed, was ended, or was kept when all others ended.
    pub session: Option<SessionId>,
    /// The family that was issued, rotated or revoked.
    pub family: Option<FamilyId>,
    /// The hash of the code or token that was presented.
    pub token: Option<TokenHash>,
}

impl AuthEvent {
    pub(crate) const fn new(kind: AuthEventKind) -> Self {
        Self {
            kind,
            reason: None,
            grant_type: None,
            revocation: None,
            client_id: None,
            subject: None,
            session: None,
            family: None,
            token: None,
        }
    }

    pub(crate) const fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    pub(crate) const fn ended_by(mut self, revocation: RevocationReason) -> Self {
        self.revocation = Some(revocation);
        self
    }

    pub(crate) fn about(mut self, subject: &Subject) -> Self {
        self.subject = Some(TokenHash::of(subject.as_str()));
        self
    }

    pub(crate) const fn of_session(mut self, session: Option<SessionId>) -> Self {
        self.session = session;
        self
    }
}

/// What endpoints alone have to say.
#[cfg(feature = "_signatures")]
impl AuthEvent {
    pub(crate) const fn by_grant(mut self, grant_type: GrantType) -> Self {
        self.grant_type = Some(grant_type);
        self
    }

    pub(crate) fn by(mut self, client_id: &ClientId) -> Self {
        self.client_id = Some(client_id.clone());
        self
    }

    pub(crate) const fn of_family(mut self, family: FamilyId) -> Self {
        self.family = Some(family);
        self
    }

    pub(crate) const fn with_token(mut self, token: TokenHash) -> Self {
        self.token = Some(token);
        self
    }
}

macro_rules! kinds {
    ($($(#[$docs:meta])* $name:ident = $code:literal,)*) => {
        /// What an [`AuthEvent`] reports.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum AuthEventKind {
            $($(#[$docs])* $name,)*
        }

        impl AuthEventKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The stable code of the event.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

kinds! {
    /// One access token was revoked on request.
    AccessTokenRevoked = "access_token_revoked",
    /// Somebody has to wait: too much was wrong in the name of a client, or too many letters were asked for to one address.
    AttemptsExceeded = "attempts_exceeded",
    /// A user said no.
    AuthorizationDenied = "authorization_denied",
    /// A user said yes and a code was issued.
    AuthorizationGranted = "authorization_granted",
    /// A checked request waits for a user.
    AuthorizationRequested = "authorization_requested",
    /// A client was not who it said it was. Count these: somebody may be guessing a secret.
    ClientAuthenticationFailed = "client_authentication_failed",
    /// A spent code came again, with everything else in order: it was stolen.
    CodeReplayed = "code_replayed",
    /// A family was revoked.
    FamilyRevoked = "family_revoked",
    /// A rotated refresh token came again: it was stolen, or a client does not store what it is given.
    RefreshTokenReused = "refresh_token_reused",
    /// A refresh token was exchanged.
    RefreshTokenRotated = "refresh_token_rotated",
    /// A client pushed an authorization request.
    RequestPushed = "request_pushed",
    /// A request was refused and nothing changed.
    RequestRefused = "request_refused",
    /// A password-reset token was issued, for the address of a user.
    ResetTokenIssued = "reset_token_issued",
    /// A password-reset token was redeemed; everything of its user ends in the same step.
    ResetTokenRedeemed = "reset_token_redeemed",
    /// A refresh whose answer was lost was answered once more, with the same tokens.
    RetryServed = "retry_served",
    /// Something below the server failed, and the peer was told to come back.
    ServerFailed = "server_failed",
    /// A session was ended, with what was granted in it.
    SessionEnded = "session_ended",
    /// A session goes on under another secret.
    SessionRenewed = "session_renewed",
    /// A session began, or goes on under another secret: its user has just proven who they are.
    SignedIn = "signed_in",
    /// Everything of a user was ended, but for the session that is named, if one is: sessions, codes, families and reset tokens.
    SignedOutEverywhere = "signed_out_everywhere",
    /// Tokens were issued.
    TokensIssued = "tokens_issued",
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O26: the table above has every code, once, in order.
    #[test]
    fn every_code_stands_in_the_table() {
        let rows = include_str!("event.rs").lines();
        let rows = rows.filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
        let codes = AuthEventKind::ALL.iter().map(|kind| kind.code());
        assert_eq!(rows.collect::<Vec<_>>(), codes.collect::<Vec<_>>());
    }
}
