//! Records for the kits; different labels make different records.
#![expect(clippy::expect_used, reason = "a kit fails by panicking")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use oauth_core::pkce::CodeChallenge;
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::session::SessionTimeouts;
use oauth_core::store::{
    AccessTokenRecord, AuthorizationCodeRecord, CodeRedemption, FamilyId, Grant, RefreshTokenRecord,
    ResetTokenRecord, Rotation, RotationSalt, SessionId, SessionRecord, TokenFamily,
};
use oauth_core::vocabulary::{AccessTokenTerms, Confirmation, Subject, Thumbprint};

pub(super) const NANOSECOND: Duration = Duration::from_nanos(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The present of the kits: not a whole second, so that a store that rounds fails.
pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, 123_456_789)
}

/// Unwraps a result: a store must not fail in a kit.
pub(super) fn answer<T>(result: Result<T, StoreError>) -> T {
    result.expect("the store answers")
}

/// Results of 32 concurrent calls, none of which may fail; `call` gets the number of its racer.
pub(super) async fn race<S, T>(
    store: &Arc<S>,
    call: impl AsyncFn(Arc<S>, usize) -> Result<T, StoreError> + Send + Sync + 'static,
) -> Vec<T>
where
    S: ?Sized + Send + Sync + 'static,
    T: Send + 'static,
{
    let results = host_ports_conformance::race(store, call).await;
    results.into_iter().map(answer).collect()
}

pub(super) fn hash(label: &str) -> TokenHash {
    TokenHash::new(label)
}

pub(super) fn family_id(label: &str) -> FamilyId {
    let bytes = hash(label).as_bytes().first_chunk().copied();
    FamilyId::from_bytes(bytes.expect("a hash is longer than an id"))
}

pub(super) fn thumbprint(label: &str) -> Thumbprint {
    Thumbprint::from_bytes(*hash(label).as_bytes())
}

pub(super) fn grant() -> Grant {
    Grant {
        client_id: "client 'one' \"two\" %_;--".parse().expect("printable"),
        subject: "user-1".parse().expect("printable"),
        scopes: "openid read:charges".parse().expect("scopes"),
        audience: vec!["https://api.example".parse().expect("an audience")],
        auth_time: start() - MINUTE,
        session: None,
        nonce: Some("n-0S6_WzA2Mj".parse().expect("printable")),
        email: Some("zo\u{eb}@ex\u{e4}mple.test\0'".to_owned()),
        name: Some("\u{1f680}".repeat(16 * 1024)),
        claims: oauth_core::vocabulary::Claims::new()
            .with_acr("a \"level\" \u{1f680}")
            .with_roles(["x", "y"]),
    }
}

pub(super) fn code(label: &str) -> AuthorizationCodeRecord {
    AuthorizationCodeRecord {
        hash: hash(label),
        redirect_uri: "https://app.example/callback?a=%27&b=c"
            .parse()
            .expect("a redirect uri"),
        code_challenge: CodeChallenge::from_bytes(*hash("challenge").as_bytes()),
        dpop_jkt: Some(thumbprint("key")),
        grant: grant(),
        issued_at: start(),
        expires_at: start() + MINUTE,
        retain_until: start() + 31 * DAY,
        redeemed: None,
    }
}

pub(super) fn family(label: &str) -> TokenFamily {
    TokenFamily {
        id: family_id(label),
        grant: grant(),
        confirmation: Some(Confirmation::Jkt(thumbprint("key"))),
        created_at: start(),
        expires_at: start() + 30 * DAY,
        retain_until: start() + 30 * DAY + 60 * MINUTE,
        revoked: None,
    }
}

pub(super) fn refresh(label: &str, family: &str, generation: u32) -> RefreshTokenRecord {
    RefreshTokenRecord {
        hash: hash(label),
        family: family_id(family),
        generation,
        issued_at: start(),
        expires_at: start() + 14 * DAY,
        rotated: None,
    }
}

pub(super) fn access(label: &str, family: Option<&str>) -> AccessTokenRecord {
    let grant = grant();
    let terms = AccessTokenTerms {
        client_id: grant.client_id,
        subject: grant.subject,
        scopes: grant.scopes,
        audience: grant.audience,
        confirmation: Some(Confirmation::Jkt(thumbprint("key"))),
        issued_at: start(),
        expires_at: start() + 10 * MINUTE,
    };
    AccessTokenRecord::new(
        hash(label),
        format!("jti of {label}"),
        family.map(family_id),
        terms,
    )
}

pub(super) fn salt(label: &str) -> RotationSalt {
    let bytes = hash(label).as_bytes().last_chunk().copied();
    RotationSalt::from_bytes(bytes.expect("a hash is longer than a salt"))
}

pub(super) fn session_id(label: &str) -> SessionId {
    let bytes = hash(label).as_bytes().first_chunk().copied();
    SessionId::from_bytes(bytes.expect("a hash is longer than an id"))
}

/// A session with an idle timeout of 30 minutes.
pub(super) fn session(label: &str) -> SessionRecord {
    let (id, timeouts) = (session_id(label), SessionTimeouts::default());
    SessionRecord::new(hash(label), id, grant().subject, timeouts, start())
        .with_label("Mozilla/5.0 'one' \"two\" \u{1f680}\0")
}

/// A reset token that expires after 15 minutes.
pub(super) fn reset(label: &str, subject: Option<Subject>) -> ResetTokenRecord {
    ResetTokenRecord {
        hash: hash(label),
        subject,
        issued_at: start(),
        expires_at: start() + 15 * MINUTE,
    }
}

/// Redeems `code` for the family `F` and the tokens `F rt 0` and `F at 0`.
pub(super) fn redemption(code: &str, f: &str) -> CodeRedemption {
    CodeRedemption {
        code: hash(code),
        family: family(f),
        access: access(&format!("{f} at 0"), Some(f)),
        refresh: Some(refresh(&format!("{f} rt 0"), f, 0)),
    }
}

/// Rotates `presented` to `successor` in the family `F`, with the access token `at of SUCCESSOR`
/// and a salt.
pub(super) fn rotation(presented: &str, successor: &str, f: &str) -> Rotation {
    Rotation {
        presented: hash(presented),
        successor: refresh(successor, f, 1),
        access: access(&format!("at of {successor}"), Some(f)),
        salt: Some(salt(successor)),
    }
}
