use crate::error::Reason;
use crate::secret::TokenHash;
use crate::store::{FamilyId, GrantType, RevocationReason};
use crate::vocabulary::{ClientId, Subject};

/// Something that happened at an endpoint, for the host's audit log and its alarms.
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
    /// The family that was issued, rotated or revoked.
    pub family: Option<FamilyId>,
    /// The hash of the code or token that was presented.
    pub token: Option<TokenHash>,
}

impl AuthEvent {
    pub(super) const fn new(kind: AuthEventKind) -> Self {
        Self {
            kind,
            reason: None,
            grant_type: None,
            revocation: None,
            client_id: None,
            subject: None,
            family: None,
            token: None,
        }
    }

    pub(super) const fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    pub(super) const fn by_grant(mut self, grant_type: GrantType) -> Self {
        self.grant_type = Some(grant_type);
        self
    }

    pub(super) const fn ended_by(mut self, revocation: RevocationReason) -> Self {
        self.revocation = Some(revocation);
        self
    }

    pub(super) fn by(mut self, client_id: &ClientId) -> Self {
        self.client_id = Some(client_id.clone());
        self
    }

    pub(super) fn about(mut self, subject: &Subject) -> Self {
        self.subject = Some(TokenHash::of(subject.as_str()));
        self
    }

    pub(super) const fn of_family(mut self, family: FamilyId) -> Self {
        self.family = Some(family);
        self
    }

    pub(super) const fn with_token(mut self, token: TokenHash) -> Self {
        self.token = Some(token);
        self
    }
}

/// What an [`AuthEvent`] reports.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum AuthEventKind {
    /// One access token was revoked on request.
    AccessTokenRevoked,
    /// Too much was wrong in the name of a client: somebody guesses its secret, or it has the wrong one.
    AttemptsExceeded,
    /// A user said no.
    AuthorizationDenied,
    /// A user said yes and a code was issued.
    AuthorizationGranted,
    /// A checked request waits for a user.
    AuthorizationRequested,
    /// A client was not who it said it was. Count these: somebody may be guessing a secret.
    ClientAuthenticationFailed,
    /// A spent code came again, with everything else in order: it was stolen.
    CodeReplayed,
    /// A family was revoked.
    FamilyRevoked,
    /// A rotated refresh token came again: it was stolen, or a client does not store what it is given.
    RefreshTokenReused,
    /// A refresh token was exchanged.
    RefreshTokenRotated,
    /// A client pushed an authorization request.
    RequestPushed,
    /// A request was refused and nothing changed.
    RequestRefused,
    /// A refresh whose answer was lost was answered once more, with the same tokens.
    RetryServed,
    /// Something below the server failed, and the peer was told to come back.
    ServerFailed,
    /// Tokens were issued.
    TokensIssued,
}

impl AuthEventKind {
    /// The stable code of the event.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::AccessTokenRevoked => "access_token_revoked",
            Self::AttemptsExceeded => "attempts_exceeded",
            Self::AuthorizationDenied => "authorization_denied",
            Self::AuthorizationGranted => "authorization_granted",
            Self::AuthorizationRequested => "authorization_requested",
            Self::ClientAuthenticationFailed => "client_authentication_failed",
            Self::CodeReplayed => "code_replayed",
            Self::FamilyRevoked => "family_revoked",
            Self::RefreshTokenReused => "refresh_token_reused",
            Self::RefreshTokenRotated => "refresh_token_rotated",
            Self::RequestPushed => "request_pushed",
            Self::RequestRefused => "request_refused",
            Self::RetryServed => "retry_served",
            Self::ServerFailed => "server_failed",
            Self::TokensIssued => "tokens_issued",
        }
    }
}
