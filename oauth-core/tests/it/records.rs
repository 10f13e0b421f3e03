//! Records of every store port, built and read outside of the crate.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::{Duration, SystemTime};

use oauth_core::attempts::{Admission, AttemptDecision, AttemptPolicy, Tally};
use oauth_core::grant::{AccessTokenLifetime, RefreshTokenLifetime};
use oauth_core::jose::{Algorithm, KeySet, SigningKey};
use oauth_core::mtls::CertificateName;
use oauth_core::pkce::CodeChallenge;
use oauth_core::ports::OsEntropy;
use oauth_core::secret::{ClientSecret, TokenHash};
use oauth_core::store::{
    AccessTokenRecord, AuthorizationCodeRecord, AuthorizationRequest, ClientAuthentication, ClientKeys,
    ClientSecrets, FamilyId, FamilyRevocation, Grant, GrantType, InteractionRecord, PreviousCertificate,
    PreviousSecret, Prompt, PushedRequestRecord, RefreshTokenRecord, RegisteredCertificates,
    RegisteredClient, ResetTokenRecord, RevocationReason, Rotated, RotationSalt, SenderConstraint,
    SessionEnd, SessionId, SessionRecord, TokenFamily,
};
use oauth_core::vocabulary::{AccessTokenTerms, Confirmation, RegisteredRedirectUri, Thumbprint};
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
        claims: Default::default(),
    }
}

#[track_caller]
fn round_trip<R: Serialize + DeserializeOwned + PartialEq + Debug>(record: &R) {
    let text = serde_json::to_string(record).unwrap();
    assert_eq!(serde_json::from_str::<R>(&text).unwrap(), *record, "{text}");
}

/// O44: a code, fresh and redeemed.
#[test]
fn host_reads_back_codes_it_built() {
    for redeemed in [None, Some(FAMILY)] {
        round_trip(&AuthorizationCodeRecord {
            hash: TokenHash::new("code"),
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

/// O44: a family, active and revoked.
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

/// O44: a refresh token, active and rotated.
#[test]
fn host_reads_back_refresh_tokens_it_built() {
    let rotated = Rotated {
        at: now(),
        successor: TokenHash::new("successor"),
        access: TokenHash::new("access"),
        salt: Some(RotationSalt::from_bytes([9; 16])),
    };
    for rotated in [None, Some(rotated)] {
        round_trip(&RefreshTokenRecord {
            hash: TokenHash::new("refresh"),
            family: FAMILY,
            generation: 3,
            issued_at: now(),
            expires_at: later(),
            rotated,
        });
    }
}

/// O44: an access token with its terms, active and revoked.
#[test]
fn host_reads_back_access_tokens_it_built() {
    for revoked_at in [None, Some(now())] {
        round_trip(&AccessTokenRecord {
            hash: TokenHash::new("access"),
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
            hash: TokenHash::new("cookie"),
            renewed_from: Some(TokenHash::new("older cookie")),
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
            hash: TokenHash::new("reset"),
            subject,
            issued_at: now(),
            expires_at: later(),
        });
    }
}

/// A client of each authentication method.
fn clients() -> [RegisteredClient; 6] {
    let id = || "web".parse().unwrap();
    let secret: ClientSecret = "secret".parse().unwrap();
    let secrets = ClientSecrets {
        current: secret.hash(),
        previous: Some(PreviousSecret {
            hash: TokenHash::new("older secret"),
            expires_at: later(),
        }),
    };
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let certificates = RegisteredCertificates {
        current: Thumbprint::from_bytes([3; 32]),
        previous: Some(PreviousCertificate {
            thumbprint: Thumbprint::from_bytes([4; 32]),
            expires_at: later(),
        }),
    };
    [
        RegisteredClient::public(id()),
        RegisteredClient::confidential(id(), secrets.clone()),
        RegisteredClient::confidential(id(), secrets).with_secret_post(),
        RegisteredClient::keyed(id(), ClientKeys::new(Algorithm::Es256, &keys).unwrap()),
        RegisteredClient::tls(id(), CertificateName::san_dns("robot.example").unwrap()),
        RegisteredClient::self_signed_tls(id(), certificates),
    ]
}

/// The authentication of a client, rebuilt from its public parts.
fn rebuilt(authentication: &ClientAuthentication) -> Option<RegisteredClient> {
    let id = "web".parse().unwrap();
    Some(match authentication {
        ClientAuthentication::None => RegisteredClient::public(id),
        ClientAuthentication::SecretBasic(secrets) => RegisteredClient::confidential(id, secrets.clone()),
        ClientAuthentication::SecretPost(secrets) => {
            RegisteredClient::confidential(id, secrets.clone()).with_secret_post()
        }
        ClientAuthentication::PrivateKeyJwt(keys) => {
            let document = KeySet::parse(keys.keys().to_json().as_bytes()).unwrap();
            RegisteredClient::keyed(id, ClientKeys::new(keys.algorithm(), &document).unwrap())
        }
        ClientAuthentication::Tls(name) => {
            assert_eq!(name.metadata_parameter(), "tls_client_auth_san_dns");
            RegisteredClient::tls(id, CertificateName::san_dns(name.as_str()).unwrap())
        }
        ClientAuthentication::SelfSignedTls(certificates) => {
            RegisteredClient::self_signed_tls(id, certificates.clone())
        }
        _ => return None,
    })
}

/// O44, O25: a client of each authentication method, with and without each optional field.
#[test]
fn host_reads_back_clients_it_built() {
    for client in clients() {
        round_trip(&client);
        let full = client
            .with_name("Example")
            .with_redirect_uri(RegisteredRedirectUri::exact("https://app.example/callback").unwrap())
            .with_redirect_uri(RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/cb").unwrap())
            .with_grant_types(GrantType::ALL)
            .with_scopes(grant().scopes)
            .with_audience("https://api.example".parse().unwrap())
            .with_access_token_lifetime(AccessTokenLifetime::new(Duration::from_secs(300)).unwrap())
            .with_refresh_token_lifetime(
                RefreshTokenLifetime::new(Duration::from_secs(3600), Duration::from_secs(7200)).unwrap(),
            )
            .with_sender_constraint(SenderConstraint::Dpop);
        round_trip(&full);
        let kept = full.clone().with_kept_refresh_tokens();
        assert_eq!(kept.is_ok(), full.is_confidential());
        let client = kept.unwrap_or(full);
        round_trip(&client);

        let mut copy = rebuilt(&client.authentication).unwrap();
        copy.name.clone_from(&client.name);
        copy.redirect_uris.clone_from(&client.redirect_uris);
        copy.grant_types.clone_from(&client.grant_types);
        copy.scopes = client.scopes.clone();
        copy.audiences.clone_from(&client.audiences);
        copy.access_token_lifetime = client.access_token_lifetime;
        copy.refresh_token_lifetime = client.refresh_token_lifetime;
        copy.sender_constraint = client.sender_constraint;
        if !client.rotates_refresh_tokens() {
            copy = copy.with_kept_refresh_tokens().unwrap();
        }
        assert_eq!(copy, client);
    }
}

fn request() -> AuthorizationRequest {
    AuthorizationRequest::new(
        "web".parse().unwrap(),
        "https://app.example/callback".parse().unwrap(),
        "state".parse().unwrap(),
        CodeChallenge::from_bytes([1; 32]),
    )
}

/// An authorization request with every optional field.
fn full_request() -> AuthorizationRequest {
    AuthorizationRequest {
        scopes: grant().scopes,
        resources: grant().audience,
        nonce: Some("n-1".parse().unwrap()),
        dpop_jkt: Some(Thumbprint::from_bytes([3; 32])),
        prompts: BTreeSet::from([Prompt::Consent, Prompt::Login, Prompt::SelectAccount]),
        silent: true,
        max_age: Some(Duration::from_secs(60)),
        login_hint: Some("ada@example.com".to_owned()),
        response_mode: oauth_core::vocabulary::ResponseMode::FormPost,
        ui_locales: Some("en de".to_owned()),
        ..request()
    }
}

/// O44, O24: an interaction of a request from the browser, and one of a pushed request.
#[test]
fn host_reads_back_interactions_it_built() {
    for (request, pushed) in [
        (request(), None),
        (full_request(), Some(TokenHash::new("pushed"))),
    ] {
        let (id, browser) = (TokenHash::new("id"), TokenHash::new("browser"));
        let built = InteractionRecord::new(id, browser, request.clone(), now()).with_pushed(pushed);
        round_trip(&built);
        let read = InteractionRecord {
            id,
            browser,
            request,
            pushed,
            created_at: now(),
            expires_at: now() + InteractionRecord::LIFETIME,
        };
        assert_eq!(built, read);
    }
}

/// O44, O23: a pushed request, fresh and completed.
#[test]
fn host_reads_back_pushed_requests_it_built() {
    for request in [request(), full_request()] {
        let hash = TokenHash::new("pushed");
        let fresh = PushedRequestRecord::new(hash, request.clone(), now());
        let completed = PushedRequestRecord {
            completed: true,
            ..fresh.clone()
        };
        round_trip(&fresh);
        round_trip(&completed);
        let read = PushedRequestRecord {
            hash,
            request,
            expires_at: now() + PushedRequestRecord::LIFETIME,
            retain_until: now() + PushedRequestRecord::LIFETIME + InteractionRecord::LIFETIME,
            completed: false,
        };
        assert_eq!(fresh, read);
    }
}

/// O44, O27: a tally, open and closed, as a policy counted it.
#[test]
fn host_reads_back_tallies_it_built() {
    let policy = AttemptPolicy::PASSWORDS;
    let mut counted = None;
    for attempts in 1..=policy.attempts().get() {
        let AttemptDecision::Admit(tally) = policy.decide(counted.as_ref(), now()) else {
            panic!("refused attempt {attempts}");
        };
        round_trip(&tally);
        let read = Tally::new(tally.attempts, tally.opens_at, tally.forgotten_at);
        assert_eq!(read, tally);
        assert_eq!(read.attempts, attempts);
        counted = Some(read);
    }
    let Admission::Refused { retry_after } = Tally::standing(counted.as_ref(), now()) else {
        panic!("admitted past the limit");
    };
    assert_eq!(counted.map(|tally| tally.opens_at), Some(now() + retry_after));
}
