//! Signature algorithms of ID tokens, per client.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use host_ports::testing::SeededEntropy;
use oauth_core::error::Reason;
use oauth_core::grant::{RetryPepper, RetryWindow};
use oauth_core::jose::{Algorithm, IdTokenClaims, IdTokenPolicy, Jwk, KeySet, SigningKey, SigningKeys};
use oauth_core::server::{AuthorizationServer, AuthorizationServerBuilder, ConfigMistake};
use oauth_core::store::RegisteredClient;
use std::sync::Arc;
use std::time::Duration;

use super::fixture::{Fixture, ISSUER, Tokens, json, reason, redirected, web_request};
use oauth_core::memory::MemoryTokens;

fn rsa() -> SigningKey {
    SigningKey::generate_rsa().unwrap()
}

fn fixture(configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder) -> Fixture {
    Fixture::with(Arc::new(MemoryTokens::new()), configure)
}

/// The algorithm in the header of a JWT.
fn algorithm_of(token: &str) -> String {
    use base64::Engine;
    let header = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(token.split('.').next().unwrap())
        .unwrap();
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
    header["alg"].as_str().unwrap().to_owned()
}

fn verify(fixture: &Fixture, token: &str, algorithm: Algorithm) -> IdTokenClaims {
    let policy =
        IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap()).with_algorithm(algorithm);
    IdTokenClaims::verify(token, &fixture.keys(), &policy, fixture.now()).unwrap()
}

/// O30: with an RSA key, ID tokens are RS256 by default, of the code and of the refresh; access
/// tokens keep their algorithm.
#[tokio::test]
async fn id_tokens_are_rs256_if_there_is_an_rsa_key() {
    let fixture = fixture(|builder| builder.with_id_token_keys(SigningKeys::new(rsa())));
    let first = fixture.sign_in().await;
    let second = Tokens::of(&fixture.refresh(&first.refresh).await);
    for tokens in [first, second] {
        let id_token = tokens.body["id_token"].as_str().unwrap();
        assert_eq!(algorithm_of(id_token), "RS256");
        assert_eq!(
            verify(&fixture, id_token, Algorithm::Rs256).subject.as_str(),
            "ada"
        );
        assert_eq!(algorithm_of(&tokens.access), "EdDSA");
    }
}

/// O30: the registration of a client selects the algorithm of its ID tokens.
#[tokio::test]
async fn a_client_gets_its_registered_algorithm() {
    let es384 = SigningKey::generate_es384(&SeededEntropy::new(9)).unwrap();
    let ps256 = rsa().with_algorithm(Algorithm::Ps256).unwrap();
    let sets = [rsa(), ps256, es384].map(SigningKeys::new);
    let fixture = fixture(|builder| {
        sets.into_iter()
            .fold(builder, AuthorizationServerBuilder::with_id_token_keys)
    });
    for algorithm in [
        Algorithm::EdDsa,
        Algorithm::Es384,
        Algorithm::Ps256,
        Algorithm::Rs256,
    ] {
        let register = |client: RegisteredClient| client.with_id_token_algorithm(algorithm);
        fixture.change_client("web", register).await;
        let tokens = fixture.sign_in().await;
        let id_token = tokens.body["id_token"].as_str().unwrap();
        assert_eq!(algorithm_of(id_token), algorithm.as_str());
        verify(&fixture, id_token, algorithm);
    }
}

/// O30: discovery lists the algorithms of the keys, and the JWKS has a key for each.
#[tokio::test]
async fn discovery_lists_the_algorithms_of_the_keys() {
    let fixture = fixture(|builder| builder.with_id_token_keys(SigningKeys::new(rsa())));
    let request = http::Request::get("/").body(bytes::Bytes::new()).unwrap();
    let metadata: serde_json::Value =
        serde_json::from_slice(fixture.server.metadata(&request).body()).unwrap();
    assert_eq!(
        metadata["id_token_signing_alg_values_supported"],
        serde_json::json!(["EdDSA", "RS256"])
    );
    let algorithms: Vec<_> = fixture.keys().iter().map(Jwk::algorithm).collect();
    assert_eq!(algorithms, [Algorithm::EdDsa, Algorithm::Rs256]);
}

/// O30: a client whose algorithm no key has is refused at the authorization endpoint, and at the
/// token endpoint keeps its code.
#[tokio::test]
async fn an_algorithm_without_a_key_is_refused() {
    let fixture = Fixture::new();
    let code = fixture.code().await;
    let register = |client: RegisteredClient| client.with_id_token_algorithm(Algorithm::Rs256);
    fixture.change_client("web", register).await;
    let refused = fixture.refused(&web_request()).await;
    assert_eq!(reason(&refused), Reason::IdTokenAlgorithmUnsupported.code());
    let (_, params) = redirected(&refused.response);
    assert_eq!(params.optional("error"), Some("unauthorized_client"));

    let failed = fixture.redeem(&code).await;
    assert_eq!(failed.response.status(), 500);
    assert_eq!(reason(&failed), Reason::SigningFailed.code());
    let relax = |mut client: RegisteredClient| {
        client.id_token_algorithm = None;
        client
    };
    fixture.change_client("web", relax).await;
    Tokens::of(&fixture.redeem(&code).await);
}

/// O30: two sets of keys for one algorithm, and two keys with one id, are configuration errors.
#[test]
fn sets_of_one_algorithm_conflict() {
    let first = || SigningKeys::new(SigningKey::generate_ed25519(&SeededEntropy::new(1)).unwrap());
    let second = || SigningKeys::new(SigningKey::generate_ed25519(&SeededEntropy::new(2)).unwrap());
    let key = rsa();
    let ps256 = key.clone().with_algorithm(Algorithm::Ps256).unwrap();
    let conflicts = [
        (first(), vec![second()]),
        (first(), vec![first()]),
        (first(), [key, ps256].map(SigningKeys::new).into()),
    ];
    for (keys, others) in conflicts {
        let builder = AuthorizationServer::builder(ISSUER).with_signing_keys(keys);
        let builder = others
            .into_iter()
            .fold(builder, AuthorizationServerBuilder::with_id_token_keys);
        let error = builder.build().unwrap_err();
        assert!(error.mistakes().contains(&ConfigMistake::SigningKeysConflict));
    }
}

/// O10, O30: RS256 signs deterministically, so a retry of a refresh gets the same ID token.
#[tokio::test]
async fn a_retry_gets_the_same_rs256_id_token() {
    let window = RetryWindow::new(Duration::from_secs(10)).unwrap();
    let fixture = fixture(|builder| {
        let builder = builder.with_id_token_keys(SigningKeys::new(rsa()));
        builder.with_retry_window(window, RetryPepper::from_bytes([7; 32]))
    });
    let tokens = fixture.sign_in().await;
    let first = fixture.refresh(&tokens.refresh).await;
    let retry = fixture.refresh(&tokens.refresh).await;
    assert_eq!(first.response.body(), retry.response.body());
    assert_eq!(
        algorithm_of(json(&first.response)["id_token"].as_str().unwrap()),
        "RS256"
    );
}

/// O30: an ID token that was signed by a published key under another RSA algorithm is refused.
#[tokio::test]
async fn a_token_of_another_algorithm_of_the_key_is_refused() {
    let key = rsa();
    let published = KeySet::new([key.public_key().clone()]).unwrap();
    let fixture = fixture(|builder| {
        let ps256 = key.with_algorithm(Algorithm::Ps256).unwrap();
        builder.with_id_token_keys(SigningKeys::new(ps256))
    });
    let register = |client: RegisteredClient| client.with_id_token_algorithm(Algorithm::Ps256);
    fixture.change_client("web", register).await;
    let tokens = fixture.sign_in().await;
    let policy = IdTokenPolicy::new(ISSUER.parse().unwrap(), "web".parse().unwrap());
    let id_token = tokens.body["id_token"].as_str().unwrap();
    assert!(IdTokenClaims::verify(id_token, &published, &policy, fixture.now()).is_err());
}
