//! Faulty and replayed proofs.

use std::time::Duration;

use futures_util::future::join_all;
use http::HeaderValue;

use super::super::fixture::{assert_error, change, codes, reason};
use super::*;

fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap()
}

/// Faults of a proof, each with the reason for the host.
fn faults(fixture: &Fixture, key: &SigningKey) -> Vec<(HeaderValue, &'static str)> {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let proof = signed(fixture, key);
    let [head, body, signature]: [&str; 3] =
        proof.expose().split('.').collect::<Vec<_>>().try_into().unwrap();
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(head).unwrap()).unwrap();
    let with_head = |from: &str, to: &str| {
        assert!(decoded.contains(from));
        let head = URL_SAFE_NO_PAD.encode(decoded.replace(from, to));
        header(&format!("{head}.{body}.{signature}"))
    };
    let of = |proof: Proof| proof.sign(key).unwrap().to_header();
    let at = |seconds: i64| {
        let now = fixture.now();
        let distance = Duration::from_secs(seconds.unsigned_abs());
        of(Proof {
            issued_at: if seconds < 0 {
                now - distance
            } else {
                now + distance
            },
            ..made(fixture)
        })
    };
    vec![
        (header("not a token"), "dpop_proof_malformed"),
        (header(""), "dpop_proof_malformed"),
        (with_head("dpop+jwt", "JWT"), "dpop_proof_of_another_type"),
        (with_head("\"ES256\"", "\"none\""), "dpop_proof_algorithm"),
        (
            with_head("\"kty\"", "\"d\":\"AA\",\"kty\""),
            "dpop_proof_key_unusable",
        ),
        (
            with_head("\"alg\"", "\"x\":1,\"alg\""),
            "dpop_proof_signature_mismatch",
        ),
        (
            of(Proof {
                method: Method::GET,
                ..made(fixture)
            }),
            "dpop_proof_for_another_method",
        ),
        (
            of(Proof {
                uri: PAR.parse().unwrap(),
                ..made(fixture)
            }),
            "dpop_proof_for_another_uri",
        ),
        (at(-3600), "dpop_proof_too_old"),
        (at(3600), "dpop_proof_not_yet_valid"),
    ]
}

/// O20, DP1, DP2, DP3, DP4, DP5, DP6, DP7, DP8, DP9, DP11: every fault of a proof gets
/// `invalid_dpop_proof`, the host gets the failed check, and the code stays usable.
#[tokio::test]
async fn fault_of_proof_is_reported_to_host_only() {
    let (fixture, key) = (fixture(), key(1));
    let proof = signed(&fixture, &key);
    let code = fixture.code().await;
    let request = || post(basic("web"), &redemption(&code));
    for (value, expected) in faults(&fixture, &key) {
        let mut request = request();
        request.headers_mut().insert(HEADER, value);
        let answer = fixture.server.token(request).await;
        assert_error(&answer, 400, "invalid_dpop_proof");
        assert_eq!(reason(&answer), expected);
        assert_eq!(answer.events[0].client_id, Some("web".parse().unwrap()));
        assert!(!answer.response.headers().contains_key("dpop-nonce"));
    }
    let mut twice = proving(request(), Some(&proof));
    twice
        .headers_mut()
        .append(HEADER, signed(&fixture, &key).to_header());
    let answer = fixture.server.token(twice).await;
    assert_error(&answer, 400, "invalid_dpop_proof");
    assert_eq!(reason(&answer), "dpop_proof_repeated");
    // the refused request used up neither proof nor code
    let answer = fixture.server.token(proving(request(), Some(&proof))).await;
    assert_eq!(answer.response.status(), 200, "{answer:?}");
}

/// O20, DP9: the URL of a proof is that of the metadata, whatever `Host` says.
#[tokio::test]
async fn host_header_does_not_change_proof_url() {
    let (fixture, key) = (fixture(), key(1));
    let evil = Proof {
        uri: "https://evil.com/token".parse().unwrap(),
        ..made(&fixture)
    };
    let mut request = on_its_own(Some(&evil.sign(&key).unwrap()));
    *request.uri_mut() = "https://evil.com/token".parse().unwrap();
    for (name, value) in [
        ("host", "evil.com"),
        ("x-forwarded-host", "evil.com"),
        ("forwarded", "host=evil.com"),
    ] {
        request.headers_mut().insert(name, header(value));
    }
    let answer = fixture.server.token(request).await;
    assert_eq!(reason(&answer), "dpop_proof_for_another_uri");
    let mut request = on_its_own(Some(&signed(&fixture, &key)));
    *request.uri_mut() = "http://10.0.0.1:8080/token?x=y".parse().unwrap();
    request.headers_mut().insert("host", header("10.0.0.1:8080"));
    assert_eq!(fixture.server.token(request).await.response.status(), 200);
}

/// O20, DP13: a proof is accepted once, by any sender, for as long as it is fresh.
#[tokio::test]
async fn proof_is_accepted_once() {
    let (fixture, key) = (fixture(), key(1));
    let proof = signed(&fixture, &key);
    let ask = async || fixture.server.token(on_its_own(Some(&proof))).await;
    assert_eq!(ask().await.response.status(), 200);
    for (wait, expected) in [
        (0, "dpop_proof_replayed"),
        (59, "dpop_proof_replayed"),
        (1, "dpop_proof_too_old"),
    ] {
        fixture.clock.advance(Duration::from_secs(wait));
        let answer = ask().await;
        assert_error(&answer, 400, "invalid_dpop_proof");
        assert_eq!(reason(&answer), expected);
    }
}

/// O20, DP13: of 32 concurrent uses of one proof one succeeds.
#[tokio::test]
async fn one_of_32_uses_of_a_proof_succeeds() {
    let (fixture, key) = (fixture(), key(1));
    let proof = signed(&fixture, &key);
    let answers = join_all((0..32).map(|_| fixture.server.token(on_its_own(Some(&proof))))).await;
    let bought = answers.iter().filter(|answer| answer.response.status() == 200);
    assert_eq!(bought.count(), 1);
}

/// O20, 43, DP13: a request that is refused for another reason uses up neither code nor proof.
#[tokio::test]
async fn refused_request_does_not_use_up_proof() {
    let (fixture, key) = (fixture(), key(1));
    let (code, proof) = (fixture.code().await, signed(&fixture, &key));
    let wrong = change(redemption(&code), "code_verifier", Some(PAR_VERIFIER));
    for _ in 0..2 {
        let answer = token(&fixture, &wrong, Some(&proof)).await;
        assert_eq!(reason(&answer), "code_verifier_mismatch");
    }
    let answer = token(&fixture, &redemption(&code), Some(&proof)).await;
    let tokens = Tokens::of(&answer);
    let proof = signed(&fixture, &key);
    let wider = [("scope", "email")];
    let wrong = [refresh(&tokens.refresh).as_slice(), &wider].concat();
    let answer = token(&fixture, &wrong, Some(&proof)).await;
    assert_error(&answer, 400, "invalid_scope");
    let answer = token(&fixture, &refresh(&tokens.refresh), Some(&proof)).await;
    assert_eq!(answer.response.status(), 200, "{answer:?}");
}

/// A well-formed verifier that fits no code here.
const PAR_VERIFIER: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// O20, 42, DP13: a complete recorded request that is sent again is refused and revokes nothing.
#[tokio::test]
async fn recorded_request_revokes_nothing() {
    let (fixture, key) = (fixture(), key(1));
    let (code, proof) = (fixture.code().await, signed(&fixture, &key));
    let tokens = Tokens::of(&token(&fixture, &redemption(&code), Some(&proof)).await);
    let answer = token(&fixture, &redemption(&code), Some(&proof)).await;
    assert_eq!(reason(&answer), "dpop_proof_replayed");
    assert_eq!(codes(&answer.events), ["request_refused"]);
    assert!(fixture.is_active(&tokens.access).await);
    let proof = signed(&fixture, &key);
    let refreshed = Tokens::of(&token(&fixture, &refresh(&tokens.refresh), Some(&proof)).await);
    let answer = token(&fixture, &refresh(&tokens.refresh), Some(&proof)).await;
    assert_eq!(reason(&answer), "dpop_proof_replayed");
    assert!(fixture.is_active(&refreshed.access).await);
    // with a fresh proof the code is a replay, as ever
    let answer = token(&fixture, &redemption(&code), Some(&signed(&fixture, &key))).await;
    assert_eq!(reason(&answer), "code_replayed");
    assert!(!fixture.is_active(&refreshed.access).await);
}
