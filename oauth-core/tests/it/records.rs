//! Records of the token and session stores, built and read outside of the crate.

use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use oauth_core::pkce::CodeChallenge;
use oauth_core::secret::TokenHash;
use oauth_core::store::{
    AccessTokenRecord, AuthorizationCodeRecord, FamilyId, FamilyRevocation, Grant, RefreshTokenRecord,
    ResetTokenRecord, RevocationReason, Rotated, RotationSalt, SessionEnd, SessionId, SessionRecord,
    TokenFamily,
};
use oauth_core::vocabulary::{AccessTokenTerms, Confirmation, Thumbprint};
use serde::Serialize;
use serde::de::DeserializeOwned;

const FAMILY: FamilyId = FamilyId::from_bytes([7; 16]);
const BOUND: Option<Confirmation> = Some(Confirmation::Jkt(Thumbprint::from_bytes([3; 32])));

/// Not a whole second: the form of a record keeps nanoseconds.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, 123_456_789)
}

fn later() -> SystemTime {
    now() + Duration::from_secs(600)
}

fn grant() -> Grant {
    Grant {
        client_id: "web".parse().unwrap(),
        subject: "ada".parse().unwrap(),
        scopes: "openid read:charges".parse().unwrap(),
        audience: vec!["https://api.example".parse().unwrap()],
        auth_time: now(),
        session: Some(SessionId::from_bytes([5; 16])),
        nonce: Some("n-1".parse().unwrap()),
        email: Some("ada@example.com".to_owned()),
        name: Some("Ada".to_owned()),
    }
}

#[track_caller]
fn round_trip<R: Serialize + DeserializeOwned + PartialEq + Debug>(record: &R) {
    let text = serde_json::to_string(record).unwrap();
    assert_eq!(serde_json::from_str::<R>(&text).unwrap(), *record, "{text}");
}

/// O44: a code, fresh and spent.
#[test]
fn host_reads_back_codes_it_built() {
    for redeemed in [None, Some(FAMILY)] {
        round_trip(&AuthorizationCodeRecord {
            hash: TokenHash::of("code"),
            redirect_uri: "https://app.example/callback".parse().unwrap(),
            code_challenge: CodeChallenge::from_bytes([1; 32]),
            dpop_jkt: Some(Thumbprint::from_bytes([3; 32])),
            grant: grant(),
            issued_at: now(),
            expires_at: later(),
            retain_until: later(),
            redeemed,
        });
    }
}

/// O44: a family, live and revoked.
#[test]
fn host_reads_back_families_it_built() {
    let at = now();
    for revoked in [
        None,
        Some(FamilyRevocation {
            reason: RevocationReason::Requested,
            at,
        }),
    ] {
        round_trip(&TokenFamily {
            id: FAMILY,
            grant: grant(),
            confirmation: BOUND,
            created_at: now(),
            expires_at: later(),
            retain_until: later(),
            revoked,
        });
    }
}

/// O44: a refresh token, live and rotated.
#[test]
fn host_reads_back_refresh_tokens_it_built() {
    let rotated = Rotated {
        at: now(),
        successor: TokenHash::of("successor"),
        access: TokenHash::of("access"),
        salt: Some(RotationSalt::from_bytes([9; 16])),
    };
    for rotated in [None, Some(rotated)] {
        round_trip(&RefreshTokenRecord {
            hash: TokenHash::of("refresh"),
            family: FAMILY,
            generation: 3,
            issued_at: now(),
            expires_at: later(),
            rotated,
        });
    }
}

/// O44: an access token with its terms, live and revoked.
#[test]
fn host_reads_back_access_tokens_it_built() {
    for revoked_at in [None, Some(now())] {
        round_trip(&AccessTokenRecord {
            hash: TokenHash::of("access"),
            jti: "1".to_owned(),
            family: Some(FAMILY),
            terms: AccessTokenTerms {
                client_id: grant().client_id,
                subject: grant().subject,
                scopes: grant().scopes,
                audience: grant().audience,
                confirmation: BOUND,
                issued_at: now(),
                expires_at: later(),
            },
            revoked_at,
        });
    }
}

/// O44: a session, active and ended, and a password-reset token.
#[test]
fn host_reads_back_sessions_and_resets_it_built() {
    let at = now();
    for ended in [
        None,
        Some(SessionEnd {
            reason: RevocationReason::SignedOut,
            at,
        }),
    ] {
        round_trip(&SessionRecord {
            hash: TokenHash::of("cookie"),
            renewed_from: Some(TokenHash::of("older cookie")),
            id: SessionId::from_bytes([5; 16]),
            subject: grant().subject,
            auth_time: now(),
            created_at: now(),
            seen_at: now(),
            idle: Duration::from_secs(1800),
            expires_at: later(),
            label: Some("Firefox".to_owned()),
            ended,
        });
    }
    for subject in [None, Some(grant().subject)] {
        round_trip(&ResetTokenRecord {
            hash: TokenHash::of("reset"),
            subject,
            issued_at: now(),
            expires_at: later(),
        });
    }
}
