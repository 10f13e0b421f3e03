//! Attacks on proofs; each forgery is signed properly unless the signature is the point.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proptest::prelude::*;

use super::*;
use crate::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet, SigningKey};

const URI: &str = "https://api.example/v1/charges";
const TOKEN: &str = "at_of_ada";
/// What is wrong with nothing: the hash is that of [`TOKEN`].
const CLAIMS: &str =
    r#""jti":"1","htm":"POST","htu":"https://api.example/v1/charges","iat":1800000000,"ath":"ATH""#;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key_of(byte: u8) -> SigningKey {
    SigningKey::generate_es256(&move |bytes: &mut [u8]| bytes.fill(byte)).unwrap()
}

fn key() -> SigningKey {
    key_of(7)
}

/// The public members of a key, as they stand in a header.
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
    CLAIMS.replace("ATH", &crate::secret::TokenHash::of(TOKEN).to_string())
}

/// The claims with the text `from` as `to`.
fn changed(from: &str, to: &str) -> String {
    let claims = claims();
    assert!(claims.contains(from), "{from}");
    format!("{{{}}}", claims.replace(from, to))
}

/// The claims with more of them.
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

/// DP1, DP2, DP3, DP4, DP5, DP6, DP7, DP8, DP9, DP11, DP12: what is in order passes, and names the key that signed it.
#[test]
fn a_proper_proof_proves_its_key() {
    let proven = verify(&proper()).unwrap();
    assert_eq!(proven.thumbprint(), key().public_key().thumbprint());
    assert!(!proven.wants_nonce());
    for name in ["dpop", "DPoP", "DPOP"] {
        assert_eq!(name.parse::<HeaderName>().unwrap(), HEADER);
    }
    let ed25519 = SigningKey::generate_ed25519(&|bytes: &mut [u8]| bytes.fill(7)).unwrap();
    let header = format!(
        r#"{{"typ":"dpop+jwt","alg":"EdDSA","jwk":{{{}}}}}"#,
        jwk(&ed25519)
    );
    let proof = signed_by(&ed25519, &header, &format!("{{{}}}", claims()));
    assert_eq!(
        verify(&proof).unwrap().thumbprint(),
        ed25519.public_key().thumbprint()
    );
}

/// DP1: two proofs are none, and so is none.
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

/// DP2: one well-formed token, and not two in one field.
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

/// DP3, DP14: each member of the header and each claim is there, of its type, and once.
#[test]
fn what_a_proof_must_say_it_says() {
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
    for iat in ["1800000000.5", "\"1800000000\"", "-1", "null", "1e9"] {
        check(&changed("1800000000", iat), Err(ProofError::Malformed));
    }
    check(&and("\"htm\":\"POST\""), Err(ProofError::Malformed));
}

/// DP4: a token of another purpose is no proof, though all else fits; and a proof is no access token.
#[test]
fn a_token_of_another_type_is_no_proof() {
    let jwk = jwk(&key());
    for typ in [
        "JWT",
        "at+jwt",
        "jwt",
        "dpop",
        "dpop+jwt ",
        "client-authentication+jwt",
        "text/dpop+jwt",
        "",
    ] {
        let header = format!(r#"{{"typ":"{typ}","alg":"ES256","jwk":{{{jwk}}}}}"#);
        check_header(&header, Err(ProofError::WrongType));
    }
    let keys = KeySet::new([key().public_key().clone()]).unwrap();
    let policy = AccessTokenPolicy::new("https://as.example".parse().unwrap(), URI.parse().unwrap());
    assert!(AccessTokenClaims::verify(&proper(), &keys, &policy, now()).is_err());
}

/// DP5: registered, asymmetric, and one of the two that are accepted; never what the key is not for.
#[test]
fn a_proof_is_of_an_accepted_algorithm() {
    let jwk = jwk(&key());
    for alg in [
        "none", "None", "HS256", "RS256", "PS256", "ES384", "es256", "Ed25519", "",
    ] {
        let header = format!(r#"{{"typ":"dpop+jwt","alg":"{alg}","jwk":{{{jwk}}}}}"#);
        check_header(&header, Err(ProofError::UnsupportedAlgorithm));
    }
    let header = format!(r#"{{"typ":"dpop+jwt","alg":"EdDSA","jwk":{{{jwk}}}}}"#);
    check_header(&header, Err(ProofError::UnusableKey));
}

/// DP6: every part is covered, and by the key that is in it.
#[test]
fn the_signature_is_that_of_the_key() {
    let (proof, mismatch) = (proper(), Err(ProofError::SignatureMismatch));
    let foreign = signed_by(&key_of(8), &header(), &format!("{{{}}}", claims()));
    assert_eq!(verify(&foreign), mismatch);
    let (signed, signature) = proof.rsplit_once('.').unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        let proof = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(bytes));
        assert_eq!(verify(&proof), mismatch, "{at}");
    }
    // another name for the same signature
    let other = forge(&header(), &changed("\"1\"", "\"2\""));
    let (other, _) = other.rsplit_once('.').unwrap();
    assert_eq!(verify(&format!("{other}.{signature}")), mismatch);
}

/// DP7: no private member, whatever its value; no symmetric key; no key for something else.
#[test]
fn a_key_with_a_private_part_is_refused() {
    let jwk = jwk(&key());
    for member in ["d", "k", "p", "q", "dp", "dq", "qi", "oth", "priv"] {
        for value in ["\"AA\"", "null", "\"\"", "1"] {
            let header = format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{{jwk},"{member}":{value}}}}}"#);
            check_header(&header, Err(ProofError::UnusableKey));
        }
    }
    for key in [
        r#"{"kty":"oct","k":"AAAA"}"#.to_owned(),
        "{}".to_owned(),
        "null".to_owned(),
        "\"key\"".to_owned(),
        format!("[{{{jwk}}}]"),
        format!(r#"{{{jwk},"use":"enc"}}"#),
        format!(r#"{{{jwk},"key_ops":["sign"]}}"#),
        format!(r#"{{{jwk},"alg":"ES384"}}"#),
    ] {
        let header = format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{key}}}"#);
        check_header(&header, Err(ProofError::UnusableKey));
    }
    // what only describes the key is left alone
    let header = format!(
        r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{{jwk},"kid":"1","use":"sig","ext":true,"alg":"ES256"}}}}"#
    );
    check_header(&header, Ok(()));
}

/// DP7, DP13, 79: moving the border between the coordinates would give one key a second thumbprint, and with it a second budget of
/// names.
#[test]
fn one_key_has_one_thumbprint() {
    let document: serde_json::Value = serde_json::from_str(&key().public_key().to_json()).unwrap();
    let number = |name: &str| URL_SAFE_NO_PAD.decode(document[name].as_str().unwrap()).unwrap();
    let point = [number("x"), number("y")].concat();
    for border in [0, 1, 31, 33, 63, 64] {
        let (x, y) = point.split_at(border);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        let header = format!(
            r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}}}"#
        );
        check_header(&header, Err(ProofError::UnusableKey));
    }
    let padded = header().replace("\"}}", "=\"}}");
    check_header(&padded, Err(ProofError::UnusableKey));
    let on_p384 = header().replace("P-256", "P-384");
    check_header(&on_p384, Err(ProofError::UnusableKey));
}

/// DP8: the method, in its letter case.
#[test]
fn a_proof_is_for_one_method() {
    for method in ["GET", "post", "Post", "PUT", "", "POST "] {
        check(&changed("POST", method), Err(ProofError::WrongMethod));
    }
}

/// DP9: the place, in any spelling, with any query.
#[test]
fn a_proof_is_for_one_place() {
    for uri in [
        "https://api.example/v1/charges?limit=2",
        "https://api.example/v1/charges#top",
        "HTTPS://API.EXAMPLE:443/v1/./charge%73",
    ] {
        check(&changed(URI, uri), Ok(()));
    }
    for uri in [
        "https://api.example/v1/refunds",
        "https://api.example/v1/charges/",
        "https://api.example.evil.com/v1/charges",
        "https://evil.com/v1/charges",
        "http://api.example/v1/charges",
        "https://api.example:8443/v1/charges",
        "https://ada@api.example/v1/charges",
        "/v1/charges",
        "",
    ] {
        check(&changed(URI, uri), Err(ProofError::WrongUri));
    }
}

/// DP10, DP16: once nonces are asked for, a proof without one is refused, and so is one with another server's.
#[test]
fn a_proof_has_the_nonce_that_it_was_asked_for() {
    let key = NonceKey::from_bytes([7; 32]);
    let name = "https://api.example";
    let nonces = Nonces::of_resource_server(&key, &name.parse().unwrap());
    let policy = ProofPolicy::new().with_nonces(nonces.clone());
    let with = |nonce: &str| {
        let proof = forge(&header(), &and(&format!("\"nonce\":\"{nonce}\"")));
        verify_with(&policy, &proof, now())
    };
    assert_eq!(
        verify_with(&policy, &proper(), now()),
        Err(ProofError::NonceMissing)
    );
    let null = forge(&header(), &and("\"nonce\":null"));
    assert_eq!(verify_with(&policy, &null, now()), Err(ProofError::NonceMissing));
    let of_the_other = Nonces::of_authorization_server(&key, &name.parse().unwrap()).newest(now());
    let late = nonces.newest(now() - Duration::from_secs(300));
    for nonce in ["", "1", of_the_other.as_str(), late.as_str()] {
        assert_eq!(with(nonce), Err(ProofError::NonceMismatch), "{nonce}");
    }
    assert!(!with(&nonces.newest(now())).unwrap().wants_nonce());
    let older = nonces.newest(now() - Duration::from_secs(60));
    assert!(with(&older).unwrap().wants_nonce());
    for error in [ProofError::NonceMissing, ProofError::NonceMismatch] {
        assert_eq!((error.wants_nonce(), error.code()), (true, "use_dpop_nonce"));
    }
    assert_eq!(ProofError::TooOld.code(), "invalid_dpop_proof");
    // nobody asked
    check(&and("\"nonce\":\"1\""), Ok(()));
}

/// DP11: a minute old at most, ten seconds ahead at most, and `exp` and `nbf` are honoured where they are.
#[test]
fn a_proof_is_of_this_minute() {
    let at = |iat: u64| changed("1800000000", &iat.to_string());
    check(&at(1_799_999_941), Ok(()));
    check(&at(1_799_999_940), Err(ProofError::TooOld));
    check(&at(1_799_996_400), Err(ProofError::TooOld));
    check(&at(0), Err(ProofError::TooOld));
    check(&at(1_799_999_990), Ok(()));
    check(&at(1_800_000_010), Ok(()));
    check(&at(1_800_000_011), Err(ProofError::NotYetValid));
    check(&at(1_800_003_600), Err(ProofError::NotYetValid));
    check(&at(253_402_300_799), Err(ProofError::NotYetValid));
    check(&and("\"exp\":1800000060,\"nbf\":1799999990"), Ok(()));
    check(&and("\"exp\":1799999991"), Ok(()));
    check(&and("\"exp\":1799999990"), Err(ProofError::TooOld));
    check(&and("\"nbf\":1800000010"), Ok(()));
    check(&and("\"nbf\":1800000011"), Err(ProofError::NotYetValid));

    let tick = Duration::from_nanos(1);
    for (window, longest) in [(60, 60), (5, 5), (300, 300), (3600, 300)] {
        let policy = ProofPolicy::new().with_window(Duration::from_secs(window));
        let end = now() + Duration::from_secs(longest);
        assert!(verify_with(&policy, &proper(), end - tick).is_ok(), "{window}");
        assert_eq!(verify_with(&policy, &proper(), end), Err(ProofError::TooOld));
    }
}

/// DP12: the hash of the token that is presented, and of no other.
#[test]
fn a_proof_is_for_one_access_token() {
    let hash = crate::secret::TokenHash::of(TOKEN).to_string();
    let other = crate::secret::TokenHash::of("at_of_eve").to_string();
    for ath in ["\"\"".to_owned(), format!("\"{other}\""), "null".to_owned()] {
        check(
            &changed(&format!("\"{hash}\""), &ath),
            Err(ProofError::WrongAccessToken),
        );
    }
    check(
        &changed(&format!(",\"ath\":\"{hash}\""), ""),
        Err(ProofError::WrongAccessToken),
    );
    check(
        &changed(&hash, &format!("{hash}=")),
        Err(ProofError::WrongAccessToken),
    );
    check(
        &changed(&hash, &hash.to_lowercase()),
        Err(ProofError::WrongAccessToken),
    );
}

/// DP13: a proof is known by its key, its name and its place together, for as long as it is accepted and a minute more.
#[test]
fn a_proof_is_remembered_by_key_name_and_place() {
    let proven = verify(&proper()).unwrap();
    let end = now() + Duration::from_secs(120);
    assert_eq!(proven.replayable_until(), end);
    assert_eq!(verify(&proper()).unwrap().replay_key(), proven.replay_key());

    // made early or late: remembered from when it was made, not from when it came
    let ahead = verify(&forge(&header(), &changed("1800000000", "1800000010"))).unwrap();
    assert_eq!(ahead.replayable_until(), end + Duration::from_secs(10));

    let other_key = header().replace(&jwk(&key()), &jwk(&key_of(8)));
    let other_key = verify(&signed_by(&key_of(8), &other_key, &format!("{{{}}}", claims()))).unwrap();
    assert_ne!(other_key.replay_key(), proven.replay_key());
    let other_name = verify(&forge(&header(), &changed("\"1\"", "\"2\""))).unwrap();
    assert_ne!(other_name.replay_key(), proven.replay_key());
    let elsewhere: Htu = "https://api.example/v1/refunds".parse().unwrap();
    let target = Target {
        method: &Method::POST,
        uri: &elsewhere,
        access_token: Some(TOKEN),
    };
    let proof = forge(&header(), &changed(URI, elsewhere.as_str()));
    let elsewhere = ProofPolicy::new().verify(&headers(&[&proof]), &target, now());
    assert_ne!(elsewhere.unwrap().replay_key(), proven.replay_key());
}

/// DP14: what nobody knows is ignored.
#[test]
fn unknown_members_and_claims_are_ignored() {
    let header = format!(
        r#"{{"typ":"dpop+jwt","alg":"ES256","kid":"9","x":{{"y":1}},"jwk":{{{},"z":[1]}}}}"#,
        jwk(&key())
    );
    check_header(&header, Ok(()));
    check(&and("\"foo\":{\"bar\":[1]},\"sub\":\"ada\""), Ok(()));
}

/// DP6, DP8, DP9, DP11, DP12: the three proofs that RFC 9449 prints, in sections 4.1, 5 and 7.1, and its thumbprint.
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

/// O20: what a client makes, to the byte, and that it is accepted.
#[test]
fn a_client_makes_what_a_server_accepts() {
    let entropy = |bytes: &mut [u8]| bytes.fill(0);
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
    /// O20: no text makes the verifier panic, and none is believed.
    #[test]
    fn garbage_proves_nothing(header in ".{0,40}", claims in ".{0,40}", raw in "[ -~]{0,60}") {
        prop_assert!(verify(&forge(&header, &claims)).is_err());
        prop_assert!(verify(&raw).is_err());
    }
}
