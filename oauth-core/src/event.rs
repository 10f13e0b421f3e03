//! Audit events, for the host's audit log and alarms.
//!
//! An endpoint of the [`server`](crate::server) returns its events with the response.
//! [`Sessions`](crate::session::Sessions) passes its events to the callback of
//! [`with_events`](crate::session::Sessions::with_events). The code of each is stable:
//!
//! | code | from | meaning |
//! |---|---|---|
//! | `access_token_revoked` | `server` | One access token was revoked on request |
//! | `attempts_exceeded` | `server`, `session` | A rate limit was exceeded: failed authentications of a client, or reset messages to one address |
//! | `authorization_denied` | `server` | The user refused |
//! | `authorization_granted` | `server` | The user consented, and a code was issued |
//! | `authorization_requested` | `server` | A valid authorization request waits for the decision of a user |
//! | `client_authentication_failed` | `server` | A client failed to authenticate. Count these: an attacker may be guessing a secret |
//! | `code_replayed` | `server` | A redeemed code was presented again in an otherwise valid request: treat it as stolen |
//! | `consent_withdrawn` | `server` | A user withdrew the consent to a client, and the grants of the client ended |
//! | `family_revoked` | `server` | A token family, that is all tokens of one grant, was revoked |
//! | `logout_abandoned` | `server` | The last attempt to tell a client that a session ended failed |
//! | `logout_failed` | `server` | An attempt to tell a client that a session ended failed, and will be repeated |
//! | `logout_sent` | `server` | A client accepted that a session ended (back-channel logout) |
//! | `refresh_token_reused` | `server` | A rotated refresh token was presented again: treat it as stolen, unless a client does not store its tokens |
//! | `refresh_token_rotated` | `server` | A refresh token was rotated |
//! | `request_pushed` | `server` | A client pushed an authorization request |
//! | `request_refused` | `server` | A request was refused and nothing changed |
//! | `reset_token_issued` | `session` | A password-reset token was issued, for the address of a user |
//! | `reset_token_redeemed` | `session` | A password-reset token was redeemed, and all sessions and tokens of its user ended |
//! | `retry_served` | `server` | A retried refresh got the tokens of the first response |
//! | `server_failed` | `server` | A dependency of the server failed, for example a store; the request was not completed |
//! | `session_ended` | `session` | A session was ended, and its grants were revoked |
//! | `session_renewed` | `session` | A session got a new secret |
//! | `signed_in` | `session` | A session started, or continues under a new secret after its user authenticated again |
//! | `signed_out_everywhere` | `session` | All sessions, codes, families and reset tokens of a user ended, except the named session, if there is one |
//! | `signed_out_of_client` | `server` | A user signed out of one client: its grants ended, and the consent stayed |
//! | `tokens_issued` | `server` | Tokens were issued |

use std::net::IpAddr;
use std::time::SystemTime;

use serde::Serialize;

use crate::error::Reason;
use crate::secret::TokenHash;
use crate::store::{FamilyId, GrantType, RevocationReason, SessionId};
use crate::vocabulary::{ClientId, Subject};

/// An event at an endpoint or of a session, for the host's audit log and alarms.
///
/// It is more precise than the response. It contains no secrets: tokens and subjects are hashed,
/// all other values are identifiers and codes.
///
/// It serialises to one JSON object for a log. Kinds and reasons are their codes, hashes are
/// base64url, and absent members are omitted:
///
/// ```json
/// {"time":1800000000.123,"kind":"request_refused","reason":"redirect_uri_not_registered",
///  "client_id":"web","request_id":"0197f9a1","address":"192.0.2.7"}
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuthEvent {
    /// Instant of the event; in JSON the seconds since 1970, with milliseconds.
    #[serde(serialize_with = "seconds")]
    pub time: SystemTime,
    /// Kind of the event.
    pub kind: AuthEventKind,
    /// Precise reason of a refusal or failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Grant type for which tokens were issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_type: Option<GrantType>,
    /// Reason of a revocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revocation: Option<RevocationReason>,
    /// Authenticated client, or the claimed one if authentication failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// SHA-256 hash of the user's subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<TokenHash>,
    /// Session that started, was renewed, was ended, or was kept when all others ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Family that was issued, rotated or revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<FamilyId>,
    /// Hash of the presented code or token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenHash>,
    /// Identifier of the request, from its [`RequestContext`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Address of the client, from the [`RequestContext`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
}

fn seconds<S: serde::Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let milliseconds = f64::from(since.subsec_millis()) / 1000.0;
    // whole seconds are exact in a double for the next 200 million years
    #[expect(clippy::cast_precision_loss, reason = "seconds have fewer than 53 bits")]
    serializer.serialize_f64(since.as_secs() as f64 + milliseconds)
}

/// Context of a request, for its events and error pages. The host inserts it into the extensions of
/// the request.
///
/// ```
/// use oauth_core::server::RequestContext;
///
/// let mut request = http::Request::get("https://auth.example/authorize").body(())?;
/// let context = RequestContext::new().with_request_id("0197f9a1");
/// request.extensions_mut().insert(context.with_address("192.0.2.7".parse()?));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct RequestContext {
    /// Identifier of the request, for example from `X-Request-Id`.
    pub request_id: Option<String>,
    /// Address of the client. Behind a proxy, pass the address that a trusted proxy reports.
    pub address: Option<IpAddr>,
}

impl RequestContext {
    /// Creates an empty context.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the identifier of the request.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Sets the address of the client.
    #[must_use]
    pub const fn with_address(mut self, address: IpAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// Sets the instant and the context of these events.
    #[cfg(feature = "_signatures")]
    pub(crate) fn stamp(context: Option<&Self>, events: &mut [AuthEvent], now: SystemTime) {
        for event in events {
            event.time = now;
            event.request_id = context.and_then(|context| context.request_id.clone());
            event.address = context.and_then(|context| context.address);
        }
    }
}

impl AuthEvent {
    pub(crate) const fn new(kind: AuthEventKind) -> Self {
        Self {
            time: SystemTime::UNIX_EPOCH,
            kind,
            reason: None,
            grant_type: None,
            revocation: None,
            client_id: None,
            subject: None,
            session: None,
            family: None,
            token: None,
            request_id: None,
            address: None,
        }
    }

    pub(crate) const fn at(mut self, time: SystemTime) -> Self {
        self.time = time;
        self
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
        self.subject = Some(TokenHash::new(subject.as_str()));
        self
    }

    pub(crate) const fn of_session(mut self, session: Option<SessionId>) -> Self {
        self.session = session;
        self
    }
}

/// Builders for events of endpoints.
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
        /// Kind of an [`AuthEvent`].
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum AuthEventKind {
            $($(#[$docs])* $name,)*
        }

        impl AuthEventKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the stable code.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }

        impl Serialize for AuthEventKind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.code())
            }
        }
    };
}

kinds! {
    /// One access token was revoked on request.
    AccessTokenRevoked = "access_token_revoked",
    /// A rate limit was exceeded: failed authentications of a client, or reset messages to one
    /// address.
    AttemptsExceeded = "attempts_exceeded",
    /// The user refused.
    AuthorizationDenied = "authorization_denied",
    /// The user consented, and a code was issued.
    AuthorizationGranted = "authorization_granted",
    /// A valid authorization request waits for the decision of a user.
    AuthorizationRequested = "authorization_requested",
    /// A client failed to authenticate. Count these: an attacker may be guessing a secret.
    ClientAuthenticationFailed = "client_authentication_failed",
    /// A redeemed code was presented again in an otherwise valid request: treat it as stolen.
    CodeReplayed = "code_replayed",
    /// A user withdrew the consent to a client, and the grants of the client ended.
    ConsentWithdrawn = "consent_withdrawn",
    /// A token family, that is all tokens of one grant, was revoked.
    FamilyRevoked = "family_revoked",
    /// The last attempt to tell a client that a session ended failed.
    LogoutAbandoned = "logout_abandoned",
    /// An attempt to tell a client that a session ended failed, and will be repeated.
    LogoutFailed = "logout_failed",
    /// A client accepted that a session ended (back-channel logout).
    LogoutSent = "logout_sent",
    /// A rotated refresh token was presented again: treat it as stolen, unless a client does not
    /// store its tokens.
    RefreshTokenReused = "refresh_token_reused",
    /// A refresh token was rotated.
    RefreshTokenRotated = "refresh_token_rotated",
    /// A client pushed an authorization request.
    RequestPushed = "request_pushed",
    /// A request was refused and nothing changed.
    RequestRefused = "request_refused",
    /// A password-reset token was issued, for the address of a user.
    ResetTokenIssued = "reset_token_issued",
    /// A password-reset token was redeemed, and all sessions and tokens of its user ended.
    ResetTokenRedeemed = "reset_token_redeemed",
    /// A retried refresh got the tokens of the first response.
    RetryServed = "retry_served",
    /// A dependency of the server failed, for example a store; the request was not completed.
    ServerFailed = "server_failed",
    /// A session was ended, and its grants were revoked.
    SessionEnded = "session_ended",
    /// A session got a new secret.
    SessionRenewed = "session_renewed",
    /// A session started, or continues under a new secret after its user authenticated again.
    SignedIn = "signed_in",
    /// All sessions, codes, families and reset tokens of a user ended, except the named session, if
    /// there is one.
    SignedOutEverywhere = "signed_out_everywhere",
    /// A user signed out of one client: its grants ended, and the consent stayed.
    SignedOutOfClient = "signed_out_of_client",
    /// Tokens were issued.
    TokensIssued = "tokens_issued",
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O26: the table above has all codes, once, in order.
    #[test]
    fn every_code_stands_in_the_table() {
        let rows = include_str!("event.rs").lines();
        let rows = rows.filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
        let codes = AuthEventKind::ALL.iter().map(|kind| kind.code());
        assert_eq!(rows.collect::<Vec<_>>(), codes.collect::<Vec<_>>());
    }
}
