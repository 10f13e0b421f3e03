//! Attacks on proofs. Each forgery is signed correctly, unless the test is about the signature.

mod claims;
mod key;

use crate::ports::entropy_fn;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proptest::prelude::*;

use super::*;
use crate::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet, SigningKey};

const URI: &str = "https://api.example/v1/charges";
const TOKEN: &str = "at_of_ada";
/// Claims of a valid proof. `ath` is the hash of [`TOKEN`].
const CLAIMS: &str =
    r#""jti":"1","htm":"POST","htu":"https://api.example/v1/charges","iat":1800000000,"ath":"ATH""#;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key_of(byte: u8) -> SigningKey {
    SigningKey::generate_es256(&entropy_fn(move |bytes: &mut [u8]| bytes.fill(byte))).unwrap()
}

fn key() -> SigningKey {
    key_of(7)
}

/// Returns the public members of a key, as the header of a proof contains them.
fn jwk(key: &SigningKey) -> String {
    let document: serde_json::Value = serde_json::from_str(&key.public_key().to_json()).unwrap();
    let members = ["kty", "crv", "x", "y"].into_iter();
    let members = members.filter_map(|name| Some(format!("\"{name}\":{}", document.get(name)?)));
    members.collect::<Vec<_>>().join(",")
}

fn header() -> String {
    format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{{}}}}}"#, jwk(&key()))
}

fn claims() -> String {
    CLAIMS.replace("ATH", &crate::secret::TokenHash::new(TOKEN).to_string())
}

/// Returns the claims with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> String {
    let claims = claims();
    assert!(claims.contains(from), "{from}");
    format!("{{{}}}", claims.replace(from, to))
}

/// Returns the claims with more members.
fn and(more: &str) -> String {
    format!("{{{},{more}}}", claims())
}

fn signed_by(key: &SigningKey, header: &str, claims: &str) -> String {
    let (header, claims) = (URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signed = format!("{header}.{claims}");
    let signature = key.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn forge(header: &str, claims: &str) -> String {
    signed_by(&key(), header, claims)
}

fn proper() -> String {
    forge(&header(), &format!("{{{}}}", claims()))
}

fn headers(proofs: &[&str]) -> HeaderMap {
    let value = |proof: &&str| (HEADER, HeaderValue::from_bytes(proof.as_bytes()).unwrap());
    proofs.iter().map(value).collect()
}

fn verify_with(policy: &ProofPolicy, proof: &str, now: SystemTime) -> Result<ProvenKey, ProofError> {
    let uri = URI.parse().unwrap();
    let target = Target {
        method: &Method::POST,
        uri: &uri,
        access_token: Some(TOKEN),
    };
    policy.verify(&headers(&[proof]), &target, now)
}

fn verify(proof: &str) -> Result<ProvenKey, ProofError> {
    verify_with(&ProofPolicy::new(), proof, now())
}

fn check(claims: &str, expected: Result<(), ProofError>) {
    assert_eq!(verify(&forge(&header(), claims)).map(drop), expected, "{claims}");
}

fn check_header(header: &str, expected: Result<(), ProofError>) {
    let proof = forge(header, &format!("{{{}}}", claims()));
    assert_eq!(verify(&proof).map(drop), expected, "{header}");
}

/// DP1, DP2, DP3, DP4, DP5, DP6, DP7, DP8, DP9, DP11, DP12: a valid proof is accepted, and its key
/// is returned.
#[test]
fn a_proper_proof_proves_its_key() {
    let proven = verify(&proper()).unwrap();
    assert_eq!(proven.thumbprint(), key().public_key().thumbprint());
    assert!(!proven.wants_nonce());
    for name in ["dpop", "DPoP", "DPOP"] {
        assert_eq!(name.parse::<HeaderName>().unwrap(), HEADER);
    }
    let ed25519 = SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap();
    let jwk = jwk(&ed25519);
    // RFC 9864 names the algorithm `Ed25519`
    for (alg, more) in [("EdDSA", ""), ("Ed25519", ""), ("Ed25519", r#","alg":"Ed25519""#)] {
        let header = format!(r#"{{"typ":"dpop+jwt","alg":"{alg}","jwk":{{{jwk}{more}}}}}"#);
        let proof = signed_by(&ed25519, &header, &format!("{{{}}}", claims()));
        assert_eq!(
            verify(&proof).unwrap().thumbprint(),
            ed25519.public_key().thumbprint()
        );
    }
}

/// DP1: a request without a proof, or with two, is refused.
#[test]
fn there_is_exactly_one_proof() {
    let uri = URI.parse().unwrap();
    let target = Target {
        method: &Method::POST,
        uri: &uri,
        access_token: Some(TOKEN),
    };
    let (proof, other) = (proper(), changed("\"1\"", "\"2\""));
    let other = forge(&header(), &other);
    let count = |proofs: &[&str]| ProofPolicy::new().verify(&headers(proofs), &target, now());
    assert_eq!(count(&[]), Err(ProofError::Missing));
    assert_eq!(count(&[&proof, &proof]), Err(ProofError::Repeated));
    assert_eq!(count(&[&proof, &other]), Err(ProofError::Repeated));
    assert_eq!(count(&[&proof, ""]), Err(ProofError::Repeated));
    assert!(count(&[&proof]).is_ok());
}

/// DP2: a proof is one well-formed token.
#[test]
fn a_proof_is_one_well_formed_token() {
    let proof = proper();
    let parts: Vec<&str> = proof.split('.').collect();
    let malformed = [
        String::new(),
        "a".to_owned(),
        "..".to_owned(),
        format!("{proof},{proof}"),
        format!("{proof}, {proof}"),
        format!("{proof} {proof}"),
        format!("{proof}."),
        format!("{proof}.{}", parts[0]),
        format!("{}.{}", parts[0], parts[1]),
        format!("{}=.{}.{}", parts[0], parts[1], parts[2]),
        format!("\"{proof}\""),
        format!("{proof}="),
        "\u{e4}".to_owned(),
        "a".repeat(20_000),
    ];
    for proof in malformed {
        assert_eq!(verify(&proof), Err(ProofError::Malformed), "{proof}");
    }
    let unsigned = format!("{}.{}.", parts[0], parts[1]);
    assert_eq!(verify(&unsigned), Err(ProofError::SignatureMismatch));
    check(&format!("[{}]", claims()), Err(ProofError::Malformed));
}

/// O33, DP3, DP14: each required header member and claim must occur once and have the right type.
#[test]
fn members_and_claims_of_proof_are_required() {
    let jwk = jwk(&key());
    for (header, error) in [
        (
            format!(r#"{{"alg":"ES256","jwk":{{{jwk}}}}}"#),
            ProofError::WrongType,
        ),
        (
            format!(r#"{{"typ":"dpop+jwt","jwk":{{{jwk}}}}}"#),
            ProofError::Malformed,
        ),
        (
            r#"{"typ":"dpop+jwt","alg":"ES256"}"#.to_owned(),
            ProofError::Malformed,
        ),
        (
            format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{{jwk}}},"jwk":{{{jwk}}}}}"#),
            ProofError::Malformed,
        ),
        (
            format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{{jwk},"kty":"EC"}}}}"#),
            ProofError::Malformed,
        ),
        (
            format!(r#"{{"typ":"dpop+jwt","alg":"ES256","crit":["b64"],"b64":true,"jwk":{{{jwk}}}}}"#),
            ProofError::Malformed,
        ),
    ] {
        check_header(&header, Err(error));
    }
    let missing = [
        ("\"jti\":\"1\",", ProofError::Malformed),
        ("\"htm\":\"POST\",", ProofError::Malformed),
        (
            "\"htu\":\"https://api.example/v1/charges\",",
            ProofError::Malformed,
        ),
        ("\"iat\":1800000000,", ProofError::Malformed),
    ];
    for (claim, error) in missing {
        check(&changed(claim, ""), Err(error));
    }
    for jti in [
        "\"\"",
        "1",
        "null",
        "[\"1\"]",
        &format!("\"{}\"", "1".repeat(257)),
    ] {
        check(
            &changed("\"jti\":\"1\"", &format!("\"jti\":{jti}")),
            Err(ProofError::Malformed),
        );
    }
    let longest = format!("\"jti\":\"{}\"", "1".repeat(256));
    check(&changed("\"jti\":\"1\"", &longest), Ok(()));
    // O33: a fraction is truncated
    check(&changed("1800000000", "1800000000.5"), Ok(()));
    for iat in ["\"1800000000\"", "-1", "-0.5", "null", "1e20"] {
        check(&changed("1800000000", iat), Err(ProofError::Malformed));
    }
    check(&and("\"htm\":\"POST\""), Err(ProofError::Malformed));
}

/// DP14: unknown members and claims are ignored.
#[test]
fn unknown_members_and_claims_are_ignored() {
    let header = format!(
        r#"{{"typ":"dpop+jwt","alg":"ES256","kid":"9","x":{{"y":1}},"jwk":{{{},"z":[1]}}}}"#,
        jwk(&key())
    );
    check_header(&header, Ok(()));
    check(&and("\"foo\":{\"bar\":[1]},\"sub\":\"ada\""), Ok(()));
}

/// DP6, DP8, DP9, DP11, DP12: the three proofs printed in RFC 9449, sections 4.1, 5 and 7.1, and
/// its thumbprint.
#[test]
fn the_proofs_of_rfc_9449_are_accepted() {
    const HEADER: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19";
    let vectors = [
        (
            "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg",
            Method::POST,
            "https://server.example.com/token",
            None,
            1_562_262_616,
        ),
        (
            "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjY1Mjk2fQ.pAqut2IRDm_De6PR93SYmGBPXpwrAk90e8cP2hjiaG5QsGSuKDYW7_X620BxqhvYC8ynrrvZLTk41mSRroapUA",
            Method::POST,
            "https://server.example.com/token",
            None,
            1_562_265_296,
        ),
        (
            "eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA",
            Method::GET,
            "https://resource.example.org/protectedresource",
            Some("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"),
            1_562_262_618,
        ),
    ];
    for (rest, method, uri, access_token, iat) in vectors {
        let proof = headers(&[&format!("{HEADER}.{rest}")]);
        let uri = uri.parse().unwrap();
        let target = Target {
            method: &method,
            uri: &uri,
            access_token,
        };
        let made_at = SystemTime::UNIX_EPOCH + Duration::from_secs(iat);
        let proven = ProofPolicy::new().verify(&proof, &target, made_at).unwrap();
        assert_eq!(
            proven.thumbprint().to_string(),
            "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        );
        let late = made_at + Duration::from_secs(3600);
        assert_eq!(
            ProofPolicy::new().verify(&proof, &target, late),
            Err(ProofError::TooOld)
        );
    }
}

/// O20: a proof of the client has exactly these bytes, and the server accepts it.
#[test]
fn server_accepts_proof_of_client() {
    let entropy = entropy_fn(|bytes: &mut [u8]| bytes.fill(0));
    let made = Proof::new(Method::POST, URI.parse().unwrap(), &entropy, now());
    let signed = made.clone().with_access_token(TOKEN).sign(&key()).unwrap();
    assert_eq!(format!("{signed:?}"), "SignedProof([redacted])");
    assert!(signed.to_header().is_sensitive());
    assert_eq!(signed.to_header(), signed.expose());
    let parts: Vec<&str> = signed.expose().split('.').collect();
    let text = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
    let document: serde_json::Value = serde_json::from_str(&key().public_key().to_json()).unwrap();
    let (x, y) = (&document["x"], &document["y"]);
    assert_eq!(
        text(parts[0]),
        format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{"crv":"P-256","kty":"EC","x":{x},"y":{y}}}}}"#)
    );
    let expected = changed("\"1\"", "\"AAAAAAAAAAAAAAAAAAAAAA\"");
    assert_eq!(text(parts[1]), expected);
    assert!(verify(signed.expose()).is_ok());

    let with_nonce = made.with_nonce("n-1").sign(&key()).unwrap();
    let claims = text(with_nonce.expose().split('.').nth(1).unwrap());
    assert!(claims.ends_with(r#","nonce":"n-1"}"#), "{claims}");
}

proptest! {
    /// O20: random text is refused without a panic.
    #[test]
    fn garbage_proves_nothing(header in ".{0,40}", claims in ".{0,40}", raw in "[ -~]{0,60}") {
        prop_assert!(verify(&forge(&header, &claims)).is_err());
        prop_assert!(verify(&raw).is_err());
    }
}
