//! Forged and faulty ID tokens.

use super::provider::with;
use super::*;

/// A test: its name, the changed members, and the result of the client.
type Row = (&'static str, Value, Result<(), JwtError>);

/// Issuer, subject and audience.
fn names() -> Vec<Row> {
    use JwtError::{Malformed, WrongAudience, WrongIssuer};
    let both = json!([CLIENT, "another"]);
    vec![
        ("missing-aud", json!({ "aud": null }), Err(Malformed)),
        (
            "missing-aud, an empty list",
            json!({ "aud": [] }),
            Err(WrongAudience),
        ),
        ("invalid-aud", json!({ "aud": "another" }), Err(WrongAudience)),
        ("invalid-aud, case", json!({ "aud": "RP" }), Err(WrongAudience)),
        ("valid-aud-as-array", json!({ "aud": [CLIENT] }), Ok(())),
        ("valid azp", json!({ "aud": [CLIENT], "azp": CLIENT }), Ok(())),
        (
            "invalid-secondary-aud",
            json!({ "aud": both }),
            Err(WrongAudience),
        ),
        (
            "invalid-secondary-aud, azp",
            json!({ "aud": both, "azp": CLIENT }),
            Err(WrongAudience),
        ),
        ("invalid azp", json!({ "azp": "another" }), Err(WrongAudience)),
        ("missing-sub", json!({ "sub": null }), Err(Malformed)),
        ("missing-sub, empty", json!({ "sub": "" }), Err(Malformed)),
        ("missing-sub, no text", json!({ "sub": 1 }), Err(Malformed)),
        (
            "invalid-issuer",
            json!({ "iss": "https://op.example" }),
            Err(WrongIssuer),
        ),
        (
            "invalid-issuer, a slash",
            json!({ "iss": format!("{ISSUER}/") }),
            Err(WrongIssuer),
        ),
        (
            "invalid-issuer, a list",
            json!({ "iss": [ISSUER] }),
            Err(Malformed),
        ),
        ("missing-issuer", json!({ "iss": null }), Err(Malformed)),
    ]
}

/// Times of validity.
fn times() -> Vec<Row> {
    use JwtError::{Expired, Malformed, NotYetValid, SignInTooOld};
    vec![
        ("missing-iat", json!({ "iat": null }), Err(Malformed)),
        (
            "invalid-iat, text",
            json!({ "iat": "1800000000" }),
            Err(Malformed),
        ),
        (
            "valid iat, a fraction is truncated",
            json!({ "iat": 1_800_000_000.5 }),
            Ok(()),
        ),
        ("invalid-iat, ahead", json!({ "iat": NOW + 60 }), Err(NotYetValid)),
        ("missing-exp", json!({ "exp": null }), Err(Malformed)),
        ("expired-exp", json!({ "exp": NOW - 300 }), Err(Expired)),
        ("expired-exp, just now", json!({ "exp": NOW - 5 }), Err(Expired)),
        ("nbf, ahead", json!({ "nbf": NOW + 60 }), Err(NotYetValid)),
        (
            "auth_time, missing",
            json!({ "auth_time": null }),
            Err(SignInTooOld),
        ),
        (
            "auth_time, long ago",
            json!({ "auth_time": NOW - 606 }),
            Err(SignInTooOld),
        ),
        (
            "auth_time, within max_age",
            json!({ "auth_time": NOW - 600 }),
            Ok(()),
        ),
        (
            "auth_time, ahead",
            json!({ "auth_time": NOW + 60 }),
            Err(NotYetValid),
        ),
    ]
}

/// Nonce and hashes that bind the token to this sign-in.
fn bonds() -> Vec<Row> {
    use JwtError::{Malformed, WrongAccessToken, WrongNonce};
    let other_hash = "77QmUPtjPfzWtF2AnpK9RQ";
    vec![
        ("(nothing)", json!({}), Ok(())),
        ("nonce-invalid", json!({ "nonce": "another" }), Err(WrongNonce)),
        (
            "nonce-invalid, missing",
            json!({ "nonce": null }),
            Err(WrongNonce),
        ),
        ("nonce-invalid, empty", json!({ "nonce": "" }), Err(WrongNonce)),
        ("nonce-invalid, no text", json!({ "nonce": 1 }), Err(Malformed)),
        (
            "invalid-at-hash",
            json!({ "at_hash": other_hash }),
            Err(WrongAccessToken),
        ),
        (
            "invalid-at-hash, empty",
            json!({ "at_hash": "" }),
            Err(WrongAccessToken),
        ),
        // optional from the token endpoint
        ("missing-at-hash", json!({ "at_hash": null }), Ok(())),
    ]
}

/// O18, 74, 75, 76, 82, 83, 84, 85, 86: each wrong claim is detected alone.
#[tokio::test]
async fn wrong_claim_is_refused() {
    for (name, claims, expected) in names().into_iter().chain(times()).chain(bonds()) {
        let op = Op::lying(Lie {
            claims,
            ..Lie::default()
        });
        let signed_in = Rp::of(&op).await.sign_in(&op).await;
        assert_eq!(signed_in.map(|_| ()), expected, "{name}");
    }
}

/// O15, O18, 65, 67, 68, 69, 70, 73: each wrong header member is detected.
#[tokio::test]
async fn wrong_header_is_refused() {
    use JwtError::{UnknownKey, UnsupportedAlgorithm, UnsupportedHeader, WrongType};
    let rows: Vec<Row> = vec![
        ("alg none", json!({ "alg": "none" }), Err(UnsupportedAlgorithm)),
        (
            "alg none, case",
            json!({ "alg": "nOnE" }),
            Err(UnsupportedAlgorithm),
        ),
        ("alg HS256", json!({ "alg": "HS256" }), Err(UnsupportedAlgorithm)),
        ("alg RS256", json!({ "alg": "RS256" }), Err(UnsupportedAlgorithm)),
        ("alg ES256", json!({ "alg": "ES256" }), Err(UnsupportedAlgorithm)),
        (
            "alg ES256, without kid",
            json!({ "alg": "ES256", "kid": null }),
            Err(UnknownKey),
        ),
        ("alg, missing", json!({ "alg": null }), Err(JwtError::Malformed)),
        ("kid-absent-single-jwks", json!({ "kid": null }), Ok(())),
        ("kid unknown", json!({ "kid": "k9" }), Err(UnknownKey)),
        ("typ, missing", json!({ "typ": null }), Ok(())),
        (
            "typ of an access token",
            json!({ "typ": "at+jwt" }),
            Err(WrongType),
        ),
        (
            "typ of a logout token",
            json!({ "typ": "logout+jwt" }),
            Err(WrongType),
        ),
        ("crit", json!({ "crit": ["exp"] }), Err(UnsupportedHeader)),
        ("b64", json!({ "b64": false }), Err(UnsupportedHeader)),
        (
            "jku",
            json!({ "jku": "https://evil.example/jwks", "kid": "k9" }),
            Err(UnknownKey),
        ),
    ];
    for (name, header, expected) in rows {
        let op = Op::lying(Lie {
            header,
            ..Lie::default()
        });
        let signed_in = Rp::of(&op).await.sign_in(&op).await;
        assert_eq!(signed_in.map(|_| ()), expected, "{name}");
        assert_eq!(op.asked("/token"), 1, "one request only");
    }
    // a key of an attacker in the header, with its signature
    let thief = provider::public_key(7);
    let header = with(json!({ "jwk": thief }), &json!({ "kid": null }));
    let op = Op::lying(Lie {
        header,
        signature: Some("A".repeat(86)),
        ..Lie::default()
    });
    let refused = Rp::of(&op).await.sign_in(&op).await;
    assert_eq!(refused, Err(JwtError::SignatureMismatch));
}

/// O15, O18, 88: the signature is verified also for a token from the token endpoint.
#[tokio::test]
async fn wrong_signature_is_refused() {
    use JwtError::{Malformed, SignatureMismatch, UnsupportedAlgorithm};
    let zeros = "A".repeat(86);
    for (signature, alg, expected) in [
        (zeros.clone(), "EdDSA", SignatureMismatch),
        (String::new(), "EdDSA", SignatureMismatch),
        (String::new(), "none", UnsupportedAlgorithm),
        (format!("{zeros}=="), "EdDSA", Malformed),
        (format!("{zeros}.{zeros}"), "EdDSA", Malformed),
    ] {
        let header = json!({ "alg": alg });
        let op = Op::lying(Lie {
            header,
            signature: Some(signature.clone()),
            ..Lie::default()
        });
        let refused = Rp::of(&op).await.sign_in(&op).await;
        assert_eq!(refused, Err(expected), "{alg} {signature}");
    }
}

/// O18, 77: `kid-absent-multiple-jwks`: with two candidate keys and no `kid` the token is refused.
#[tokio::test]
async fn ambiguous_key_is_refused() {
    let op = Op::lying(Lie {
        header: json!({ "kid": null }),
        ..Lie::default()
    });
    op.change(|script| script.keys = vec![1, 2]);
    let rp = Rp::of(&op).await;
    assert_eq!(rp.sign_in(&op).await, Err(JwtError::AmbiguousKey));
    op.change(|script| script.lie = Lie::default());
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    assert_eq!(op.asked("/jwks"), 1);
}

/// O18, 54: `refresh-token-invalid-issuer`, `refresh-token-invalid-sub`: a refreshed token must
/// have the same issuer and subject.
#[tokio::test]
async fn refreshed_id_token_has_same_subject() {
    let op = Op::new();
    let rp = Rp::of(&op).await;
    let tokens = rp.tokens(&op, |query| query).await.unwrap();
    assert_eq!(rp.identity(&tokens).await, same("ada"));
    let rows: [(Value, Result<(), JwtError>); 5] = [
        (json!({}), Ok(())),
        (json!({ "iss": "https://op.example" }), Err(JwtError::WrongIssuer)),
        (json!({ "aud": "another" }), Err(JwtError::WrongAudience)),
        (json!({ "exp": NOW - 300 }), Err(JwtError::Expired)),
        (json!({ "at_hash": "x" }), Err(JwtError::WrongAccessToken)),
    ];
    for (claims, expected) in rows {
        op.change(|script| script.lie.claims = claims.clone());
        let refreshed = tokens.refresh().unwrap().send(&rp.ports).await.unwrap();
        assert_eq!(rp.identity(&refreshed).await.map(|_| ()), expected, "{claims}");
    }
    // tokens beside an ID token of another subject are not used
    op.change(|script| script.lie.claims = json!({ "sub": "eve" }));
    let refreshed = tokens.refresh().unwrap().send(&rp.ports).await;
    assert!(matches!(
        refreshed,
        Err(CallError::Response(TokenError::WrongSubject))
    ));
    // and a refresh may have no ID token
    op.change(|script| script.token_response = json!({ "id_token": null }));
    let refreshed = tokens.refresh().unwrap().send(&rp.ports).await.unwrap();
    let identity: Option<IdTokenClaims> = refreshed.identity_with(&rp.keys, now()).await.unwrap();
    assert!(identity.is_none());
}
