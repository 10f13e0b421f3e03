//! Validation of the server configuration.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use host_ports::testing::{ManualClock, SeededEntropy};
use oauth_core::grant::{AccessTokenLifetime, RefreshTokenLifetime, RetryPepper, RetryWindow};
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::MemoryTokens;
use oauth_core::server::{AuthorizationServer, ConfigMistake, EndpointResponse, Interaction};

use super::fixture::Fixture;

/// All configuration errors are reported at once.
#[test]
fn every_mistake_is_reported_at_once() {
    let error = AuthorizationServer::builder("http://auth.example")
        .with_audience("")
        .with_access_token_lifetime(AccessTokenLifetime::new(Duration::from_secs(16 * 60)).unwrap())
        .build()
        .unwrap_err();
    let missing = [
        "client store",
        "interaction store",
        "token store",
        "clock",
        "entropy",
        "signing key",
    ];
    let mut expected = vec![ConfigMistake::InvalidIssuer];
    expected.extend(missing.map(ConfigMistake::Missing));
    expected.extend([ConfigMistake::InvalidAudience, ConfigMistake::JwtLifetimeTooLong]);
    assert_eq!(error.mistakes(), expected);
    assert!(
        error
            .to_string()
            .starts_with("the configuration of the authorization server is invalid: the issuer")
    );
}

/// O14, O21: a JWT access token lives 5 to 15 minutes; other values are configuration errors.
#[tokio::test]
async fn a_jwt_access_token_lives_up_to_fifteen_minutes() {
    for (minutes, fits) in [(5, true), (15, true), (16, false), (60, false)] {
        let lifetime = AccessTokenLifetime::new(Duration::from_secs(minutes * 60)).unwrap();
        let built = complete().with_access_token_lifetime(lifetime).build();
        assert_eq!(built.is_ok(), fits, "{minutes} minutes");
    }
    let lifetime = AccessTokenLifetime::new(Duration::from_secs(300)).unwrap();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_access_token_lifetime(lifetime)
    });
    assert_eq!(fixture.sign_in().await.body["expires_in"], 300);
}

/// O21: the configured lifetimes of refresh tokens apply.
#[tokio::test]
async fn refresh_lifetimes_can_be_shortened() {
    let hour = Duration::from_secs(3_600);
    let lifetime = RefreshTokenLifetime::new(hour, 2 * hour).unwrap();
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_refresh_token_lifetime(lifetime)
    });
    let tokens = fixture.sign_in().await;
    fixture.clock.advance(hour);
    assert!(!fixture.is_active(&tokens.refresh).await);
}

/// O10, 53: a retry window requires deterministic signatures (EdDSA).
#[test]
fn retry_window_requires_eddsa() {
    let window = RetryWindow::new(Duration::from_secs(10)).unwrap();
    let es256 = || SigningKeys::new(SigningKey::generate_es256(&SeededEntropy::new(3)).unwrap());
    for (window, fits) in [(window, false), (RetryWindow::NONE, true)] {
        let server = complete().with_retry_window(window, RetryPepper::from_bytes([7; 32]));
        let built = server.with_signing_keys(es256()).build();
        match built {
            Ok(_) => assert!(fits),
            Err(error) => assert_eq!(
                (error.mistakes(), fits),
                (&[ConfigMistake::RetryWindowWithoutDeterministicKeys][..], false)
            ),
        }
    }
    let server = complete().with_retry_window(window, RetryPepper::from_bytes([7; 32]));
    assert!(server.build().is_ok());
}

/// Two keys with one id are refused, because a verifier could not tell them apart.
#[test]
fn conflicting_keys_are_refused() {
    let key = SigningKey::generate_ed25519(&SeededEntropy::new(3)).unwrap();
    let retired = key.public_key().clone();
    let keys = SigningKeys::new(key).with_retired(retired, SystemTime::UNIX_EPOCH);
    let built = complete().with_signing_keys(keys);
    assert_eq!(
        built.build().unwrap_err().mistakes(),
        [ConfigMistake::SigningKeysConflict]
    );
}

#[test]
fn the_server_can_be_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<AuthorizationServer>();
    sent::<EndpointResponse>();
    sent::<Interaction>();
}

fn complete() -> oauth_core::server::AuthorizationServerBuilder {
    let entropy = SeededEntropy::new(2);
    AuthorizationServer::builder("https://auth.example/tenant")
        .with_clients(oauth_core::memory::MemoryClients::new())
        .with_interactions(oauth_core::memory::MemoryInteractions::new())
        .with_tokens(MemoryTokens::new())
        .with_clock(ManualClock::new(SystemTime::UNIX_EPOCH))
        .with_signing_keys(SigningKeys::new(SigningKey::generate_ed25519(&entropy).unwrap()))
        .with_entropy(entropy)
        .with_audience("https://api.example")
}
