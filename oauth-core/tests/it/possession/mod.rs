//! The guard of a resource server, for bound tokens.

mod challenges;
mod remembered;
mod required;
mod seen_again;

use oauth_core::ports::entropy_fn;
use oauth_core::vocabulary::AccessTokenTerms;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use http::request::Parts;
use http::{HeaderValue, Method, Request};
use oauth_core::dpop::{HEADER, NONCE_HEADER, Proof, ProofError};
use oauth_core::jose::{AccessTokenClaims, JwtError, KeySet, SigningKey};
use oauth_core::memory::MemoryReplays;
use oauth_core::mtls::ClientCertificate;
use oauth_core::ports::OsEntropy;
use oauth_core::resource::{AuthenticatedToken, Challenge, ChallengeReason, ResourceServer};
use oauth_core::store::ReplayStore;
use oauth_core::vocabulary::{Confirmation, Thumbprint};

const ISSUER: &str = "https://as.example";
const API: &str = "https://api.example";
const CHARGES: &str = "https://api.example/v1/charges";

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key(byte: u8) -> SigningKey {
    SigningKey::generate_es256(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte))).unwrap()
}

fn bearer_api() -> ResourceServer {
    let keys = KeySet::new([key(7).public_key().clone()]).unwrap();
    ResourceServer::new(ISSUER.parse().unwrap(), API.parse().unwrap(), keys)
}

fn api() -> ResourceServer {
    api_over(Arc::new(MemoryReplays::new()))
}

fn api_over(replays: Arc<dyn ReplayStore>) -> ResourceServer {
    bearer_api().with_dpop(API.parse().unwrap(), replays)
}

fn jkt(key: &SigningKey) -> Confirmation {
    Confirmation::Jkt(key.public_key().thumbprint())
}

fn token(confirmation: Option<Confirmation>) -> String {
    let claims = AccessTokenClaims {
        terms: AccessTokenTerms {
            subject: "ada".parse().unwrap(),
            audience: vec![API.parse().unwrap()],
            client_id: "demo-web".parse().unwrap(),
            scopes: "read:charges".parse().unwrap(),
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            confirmation,
        },
        issuer: ISSUER.parse().unwrap(),
        jti: "token-1".to_owned(),
        auth_time: None,
    };
    claims.sign(&key(7)).unwrap().expose().to_owned()
}

fn made(token: &str) -> Proof {
    Proof::new(Method::GET, CHARGES.parse().unwrap(), &OsEntropy, now()).with_access_token(token)
}

fn value(proof: &Proof, key: &SigningKey) -> HeaderValue {
    proof.sign(key).unwrap().to_header()
}

fn request(scheme: &str, token: &str, proofs: &[HeaderValue]) -> Parts {
    let request = Request::get("/v1/charges?limit=2").header("authorization", format!("{scheme} {token}"));
    let mut request = request.body(()).unwrap().into_parts().0;
    for proof in proofs {
        request.headers.append(HEADER, proof.clone());
    }
    request
}

async fn present(api: &ResourceServer, request: &Parts) -> Result<AuthenticatedToken, Challenge> {
    api.authenticate(request, now()).await
}

fn challenges(challenge: &Challenge) -> Vec<String> {
    let headers = challenge.headers();
    let values = headers.get_all("www-authenticate").iter();
    values.map(|value| value.to_str().unwrap().to_owned()).collect()
}

/// O20, 101, DP12: a bound token passes with a proof of its key, in any case of the scheme. Its
/// challenges use the scheme of the request.
#[tokio::test]
async fn a_bound_token_passes_with_a_proof_of_its_key() {
    let (api, own) = (api(), key(1));
    let token = token(Some(jkt(&own)));
    for scheme in ["DPoP", "dpop", "DPOP"] {
        let proof = value(&made(&token), &own);
        let principal = present(&api, &request(scheme, &token, &[proof])).await.unwrap();
        assert_eq!(principal.subject().as_str(), "ada");
        assert_eq!(principal.confirmation(), Some(jkt(&own)));
        assert_eq!(principal.dpop_nonce(), None);
        let refused = principal.require(&"write:refunds".parse().unwrap()).unwrap_err();
        assert_eq!(refused.status(), 403);
        assert_eq!(
            challenges(&refused),
            [
                r#"DPoP realm="https://api.example", error="insufficient_scope", scope="write:refunds", algs="ES256 Ed25519 EdDSA""#
            ]
        );
    }
}

/// O20, 100, DP15: a bound token does not pass as bearer token, nor a bearer token as bound; nor
/// does one bound to a certificate.
#[tokio::test]
async fn token_passes_by_its_own_scheme_only() {
    let (api, own) = (api(), key(1));
    let certificate = Confirmation::Certificate(Thumbprint::from_bytes([1; 32]));
    let (bound, unbound, of_tls) = (token(Some(jkt(&own))), token(None), token(Some(certificate)));
    assert!(present(&api, &request("Bearer", &unbound, &[])).await.is_ok());
    for (scheme, token) in [
        ("Bearer", &bound),
        ("bearer", &bound),
        ("DPoP", &unbound),
        ("DPoP", &of_tls),
    ] {
        for proofs in [vec![], vec![value(&made(token), &own)]] {
            let refused = present(&api, &request(scheme, token, &proofs)).await.unwrap_err();
            assert_eq!(refused.reason(), &ChallengeReason::WrongScheme, "{scheme}");
            assert_eq!(
                (refused.status().as_u16(), refused.code()),
                (401, Some("invalid_token"))
            );
        }
    }
    let refused = present(&api, &request("Bearer", &bound, &[])).await.unwrap_err();
    assert_eq!(
        challenges(&refused),
        [
            r#"Bearer realm="https://api.example", error="invalid_token""#,
            r#"DPoP realm="https://api.example", algs="ES256 Ed25519 EdDSA""#,
        ]
    );
    // an API without proofs neither knows the scheme nor accepts the token
    let refused = present(&bearer_api(), &request("Bearer", &bound, &[]))
        .await
        .unwrap_err();
    assert_eq!(refused.reason(), &ChallengeReason::WrongScheme);
    let proof = value(&made(&bound), &own);
    let refused = present(&bearer_api(), &request("DPoP", &bound, &[proof]))
        .await
        .unwrap_err();
    assert_eq!(refused.reason(), &ChallengeReason::NoToken);
    assert_eq!(challenges(&refused), [r#"Bearer realm="https://api.example""#]);
}

/// O19, MT3: a token bound to a certificate passes only over a connection with that certificate.
#[tokio::test]
async fn certificate_bound_token_needs_its_certificate() {
    let (own, other) = (
        ClientCertificate::from_der(b"own"),
        ClientCertificate::from_der(b"other"),
    );
    let token = token(Some(own.confirmation()));
    for api in [api(), bearer_api()] {
        for (certificate, passes) in [(Some(&own), true), (Some(&other), false), (None, false)] {
            let mut request = request("Bearer", &token, &[]);
            // a header proves nothing, because any sender can write it
            request
                .headers
                .insert("x-client-cert", HeaderValue::from_static("own"));
            if let Some(certificate) = certificate {
                request.extensions.insert(certificate.clone());
            }
            let refused = present(&api, &request).await.err();
            let reason = refused.as_ref().map(|refused| refused.reason().clone());
            assert_eq!(reason, (!passes).then_some(ChallengeReason::WrongCertificate));
            if let Some(refused) = refused {
                assert_eq!(
                    (refused.status().as_u16(), refused.code()),
                    (401, Some("invalid_token"))
                );
            }
        }
    }
}

/// Faults of the proof beside a token of `own`.
fn faults(token: &str, own: &SigningKey, thief: &SigningKey) -> Vec<(Vec<HeaderValue>, ProofError)> {
    let proper = || made(token);
    let of = |proof: Proof| vec![value(&proof, own)];
    vec![
        (vec![], ProofError::Missing),
        (vec![value(&proper(), thief)], ProofError::WrongKey),
        ([of(proper()), of(proper())].concat(), ProofError::Repeated),
        (
            of(Proof {
                method: Method::POST,
                ..proper()
            }),
            ProofError::WrongMethod,
        ),
        (
            of(Proof {
                uri: API.parse().unwrap(),
                ..proper()
            }),
            ProofError::WrongUri,
        ),
        (of(made("another token")), ProofError::WrongAccessToken),
        (
            of(Proof {
                access_token: None,
                ..proper()
            }),
            ProofError::WrongAccessToken,
        ),
        (
            of(Proof {
                issued_at: now() - Duration::from_secs(61),
                ..proper()
            }),
            ProofError::TooOld,
        ),
    ]
}

/// O20, DP1, DP8, DP9, DP11, DP12: a token is refused with a proof of another key, or with any
/// other fault of the proof.
#[tokio::test]
async fn stolen_token_is_refused() {
    let (api, own, thief) = (api(), key(1), key(2));
    let token = token(Some(jkt(&own)));
    let proper = made(&token);
    for (proofs, error) in faults(&token, &own, &thief) {
        let refused = present(&api, &request("DPoP", &token, &proofs))
            .await
            .unwrap_err();
        assert_eq!(refused.reason(), &ChallengeReason::InvalidProof(error));
        let code = match error {
            ProofError::WrongKey => "invalid_token",
            _ => "invalid_dpop_proof",
        };
        assert_eq!(
            challenges(&refused),
            [format!(
                r#"DPoP realm="https://api.example", error="{code}", algs="ES256 Ed25519 EdDSA""#
            )]
        );
        let headers = refused.into_response().headers().clone();
        assert_eq!(headers["cache-control"], "no-store");
        assert_eq!(
            headers["access-control-expose-headers"],
            "WWW-Authenticate, DPoP-Nonce"
        );
        assert!(!headers.contains_key(NONCE_HEADER));
    }
    // a refused proof is not used up
    let proof = value(&proper, &own);
    assert!(present(&api, &request("DPoP", &token, &[proof])).await.is_ok());
    // a proof does not help an invalid token
    let forged = format!("{token}A");
    let proof = value(&made(&forged), &own);
    let refused = present(&api, &request("DPoP", &forged, &[proof]))
        .await
        .unwrap_err();
    assert!(matches!(
        refused.reason(),
        ChallengeReason::InvalidToken(JwtError::SignatureMismatch | JwtError::Malformed)
    ));
}

/// O20, DP9: the URL of the proof is the configured base and the path of the request, whatever
/// `Host` says.
#[tokio::test]
async fn proof_url_uses_configured_base() {
    let (own, replays) = (key(1), Arc::new(MemoryReplays::new()));
    let token = token(Some(jkt(&own)));
    let below = bearer_api().with_dpop("https://api.example/tenant/".parse().unwrap(), replays);
    for (api, uri, proven, passes) in [
        (api(), "https://evil.com/v1/charges", CHARGES, true),
        (
            api(),
            "https://evil.com/v1/charges",
            "https://evil.com/v1/charges",
            false,
        ),
        (api(), "http://10.0.0.1:8080/v1/charges", CHARGES, true),
        (
            api(),
            "//evil.com/v1/charges",
            "https://evil.com/v1/charges",
            false,
        ),
        (
            below.clone(),
            "/v1/charges",
            "https://api.example/tenant/v1/charges",
            true,
        ),
        (below, "/v1/charges", CHARGES, false),
    ] {
        let proof = Proof {
            uri: proven.parse().unwrap(),
            ..made(&token)
        };
        let mut request = request("DPoP", &token, &[value(&proof, &own)]);
        request.uri = uri.parse().unwrap();
        let host = HeaderValue::from_static("evil.com");
        request.headers.insert("host", host.clone());
        request.headers.insert("x-forwarded-host", host);
        let expected = (!passes).then_some(ChallengeReason::InvalidProof(ProofError::WrongUri));
        let refused = present(&api, &request).await.err();
        assert_eq!(
            refused.map(|refused| refused.reason().clone()),
            expected,
            "{uri} {proven}"
        );
    }
}

/// O20, DP9: a path passes with a character as browsers send it, encoded or not.
#[tokio::test]
async fn path_passes_as_browsers_encode_it() {
    let (api, own) = (api(), key(1));
    let token = token(Some(jkt(&own)));
    let spellings = ["/users/auth0|123", "/users/auth0%7C123", "/users/auth0%7c123"];
    for asked in spellings {
        for proven in spellings {
            let proof = Proof {
                uri: format!("{API}{proven}").parse().unwrap(),
                ..made(&token)
            };
            let mut request = request("DPoP", &token, &[value(&proof, &own)]);
            request.uri = asked.parse().unwrap();
            assert!(present(&api, &request).await.is_ok(), "{asked} {proven}");
        }
    }
}

/// O20, DP13: of 32 concurrent uses of one proof one passes.
#[tokio::test]
async fn one_of_32_uses_of_a_proof_passes() {
    let (api, own) = (api(), key(1));
    let token = token(Some(jkt(&own)));
    let request = request("DPoP", &token, &[value(&made(&token), &own)]);
    let answers = join_all((0..32).map(|_| present(&api, &request))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let refused = present(&api, &request).await.unwrap_err();
    assert_eq!(
        refused.reason(),
        &ChallengeReason::InvalidProof(ProofError::Replayed)
    );
}
