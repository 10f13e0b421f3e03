//! Attacks on tokens; each forgery is signed properly unless the signature is the point.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;
use crate::secret::AccessToken;

const ISSUER: &str = "https://as.example";
const API: &str = "https://api.example";
/// What is wrong with nothing.
const CLAIMS: &str = r#""iss":"https://as.example","sub":"ada","aud":"https://api.example","client_id":"demo-web","jti":"1","iat":1800000000,"exp":1800000600,"scope":"read:charges""#;
const ID_CLAIMS: &str =
    r#""iss":"https://as.example","sub":"ada","aud":"demo-web","iat":1800000000,"exp":1800000600"#;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn key() -> SigningKey {
    SigningKey::generate_es256(&|bytes: &mut [u8]| bytes.fill(7)).unwrap()
}

fn keys() -> KeySet {
    KeySet::new([key().public_key().clone()]).unwrap()
}

fn header(typ: &str) -> String {
    format!(r#"{{"alg":"ES256","typ":"{typ}","kid":"{}"}}"#, key().key_id())
}

fn forge(header: &str, claims: &str) -> String {
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(claims)
    );
    format!(
        "{signed}.{}",
        URL_SAFE_NO_PAD.encode(key().sign(signed.as_bytes()).unwrap())
    )
}

fn verify_at(token: &str, now: SystemTime) -> Result<AccessTokenClaims, JwtError> {
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    AccessTokenClaims::verify(token, &keys(), &policy.with_leeway(Duration::ZERO), now)
}

fn refusal(token: &str) -> JwtError {
    verify_at(token, now()).expect_err(token)
}

fn id_policy() -> IdTokenPolicy {
    IdTokenPolicy::new(ISSUER.parse().unwrap(), "demo-web".parse().unwrap()).with_leeway(Duration::ZERO)
}

fn verify_id(token: &str, policy: &IdTokenPolicy) -> Result<IdTokenClaims, JwtError> {
    IdTokenClaims::verify(token, &keys(), policy, now())
}

/// The claims with `member` in the place of the member of that name, or added.
fn with(claims: &str, member: &str) -> String {
    let name = member.split(':').next().unwrap();
    let kept = claims.split(",\"").enumerate().map(|(index, text)| {
        if index == 0 {
            text.to_owned()
        } else {
            format!("\"{text}")
        }
    });
    let kept: Vec<String> = kept
        .filter(|text| !text.starts_with(&format!("{name}:")))
        .collect();
    format!("{{{},{member}}}", kept.join(","))
}

fn without(claims: &str, name: &str) -> String {
    with(claims, &format!("\"{name}\":0")).replace(&format!(",\"{name}\":0"), "")
}

/// O15: the forgery that is none passes, so that the refusals below mean something.
#[test]
fn a_proper_token_is_accepted() {
    let token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}"));
    let claims = verify_at(&token, now()).unwrap();
    assert_eq!(claims.subject.as_str(), "ada");
    assert!(claims.scopes.contains_str("read:charges"));
    for typ in ["AT+JWT", "application/at+jwt", "Application/At+Jwt"] {
        assert!(
            verify_at(&forge(&header(typ), &format!("{{{CLAIMS}}}")), now()).is_ok(),
            "{typ}"
        );
    }
    verify_id(&forge(&header("JWT"), &format!("{{{ID_CLAIMS}}}")), &id_policy()).unwrap();
}

/// O15: an unsigned token is refused, in whatever letters it says so.
#[test]
fn none_is_no_algorithm_in_any_case() {
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        let header = header("at+jwt").replace("ES256", alg);
        let token = forge(&header, &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::UnsupportedAlgorithm, "{alg}");
        let (unsigned, _) = token.rsplit_once('.').unwrap();
        assert_eq!(
            refusal(&format!("{unsigned}.")),
            JwtError::UnsupportedAlgorithm,
            "{alg}"
        );
    }
}

/// O15: a public key is no HMAC secret, whichever of its spellings is used as one.
#[test]
fn a_public_key_is_no_hmac_secret() {
    use hmac::{Hmac, KeyInit, Mac};
    for secret in [
        key().public_key().to_json(),
        keys().to_json(),
        key().key_id().to_owned(),
    ] {
        for alg in ["HS256", "HS384", "HS512"] {
            let header = header("at+jwt").replace("ES256", alg);
            let signed = format!(
                "{}.{}",
                URL_SAFE_NO_PAD.encode(header),
                URL_SAFE_NO_PAD.encode(format!("{{{CLAIMS}}}"))
            );
            let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
            mac.update(signed.as_bytes());
            let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
            assert_eq!(refusal(&token), JwtError::UnsupportedAlgorithm);
        }
    }
}

/// O15: the algorithm is the key's, whatever the token says.
#[test]
fn another_algorithm_than_the_keys_is_refused() {
    for alg in ["EdDSA", "RS256"] {
        let token = forge(&header("at+jwt").replace("ES256", alg), &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::UnsupportedAlgorithm, "{alg}");
    }
}

/// O15: a key that the token brings along, or points to, is never used.
#[test]
fn a_key_in_the_header_is_never_used() {
    let thief = SigningKey::generate_es256(&|bytes: &mut [u8]| bytes.fill(9)).unwrap();
    let jwk = thief.public_key().to_json();
    let forge_by_thief = |header: &str| {
        let signed = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(header),
            URL_SAFE_NO_PAD.encode(format!("{{{CLAIMS}}}"))
        );
        format!(
            "{signed}.{}",
            URL_SAFE_NO_PAD.encode(thief.sign(signed.as_bytes()).unwrap())
        )
    };
    let known = header("at+jwt");
    let known = known.trim_end_matches('}');
    let unknown = known.replace(key().key_id(), thief.key_id());
    for extra in [
        format!(r#""jwk":{jwk}"#),
        r#""jku":"https://evil.com/keys""#.into(),
        r#""x5u":"https://evil.com/c""#.into(),
    ] {
        assert_eq!(
            refusal(&forge_by_thief(&format!("{known},{extra}}}"))),
            JwtError::SignatureMismatch
        );
        assert_eq!(
            refusal(&forge_by_thief(&format!("{unknown},{extra}}}"))),
            JwtError::UnknownKey
        );
    }
    assert_eq!(
        refusal(&forge_by_thief(r#"{"alg":"ES256","typ":"at+jwt"}"#)),
        JwtError::SignatureMismatch
    );
}

/// O15: a `kid` is a name and nothing else.
#[test]
fn a_strange_kid_finds_no_key() {
    for kid in ["../../dev/null", "", "' OR '1'='1", "http://evil.com", "x\\u0000"] {
        let header = format!(r#"{{"alg":"ES256","typ":"at+jwt","kid":"{kid}"}}"#);
        assert_eq!(
            refusal(&forge(&header, &format!("{{{CLAIMS}}}"))),
            JwtError::UnknownKey,
            "{kid}"
        );
    }
    for kid in ["1", "null_", "[\"a\"]", "{}"] {
        let header = format!(r#"{{"alg":"ES256","typ":"at+jwt","kid":{kid}}}"#);
        assert_eq!(
            refusal(&forge(&header, &format!("{{{CLAIMS}}}"))),
            JwtError::Malformed,
            "{kid}"
        );
    }
}

/// O15: extensions that would change what is signed are refused, whatever they say.
#[test]
fn crit_b64_and_zip_are_refused() {
    let header = header("at+jwt");
    let header = header.trim_end_matches('}');
    for extra in [
        r#""crit":["exp"]"#,
        r#""crit":[]"#,
        r#""crit":null"#,
        r#""b64":false"#,
        r#""b64":true"#,
        r#""b64":false,"crit":["b64"]"#,
        r#""zip":"DEF""#,
    ] {
        let token = forge(&format!("{header},{extra}}}"), &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::UnsupportedHeader, "{extra}");
    }
}

/// O15: no member twice, in header or claims, known or unknown.
#[test]
fn a_repeated_member_is_refused_everywhere() {
    let good = header("at+jwt");
    let header_start = good.trim_end_matches('}');
    for extra in [
        r#""alg":"ES256""#,
        r#""alg":"none""#,
        r#""typ":"JWT""#,
        r#""x":1,"x":2"#,
        r#""\u0061lg":"none""#,
    ] {
        let token = forge(&format!("{header_start},{extra}}}"), &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::Malformed, "{extra}");
    }
    for extra in [
        r#""sub":"ada""#,
        r#""sub":"eve""#,
        r#""exp":9999999999"#,
        r#""x":1,"x":2"#,
        r#""\u0073ub":"eve""#,
        r#""x":{"y":1,"y":2}"#,
    ] {
        assert_eq!(
            refusal(&forge(&good, &format!("{{{CLAIMS},{extra}}}"))),
            JwtError::Malformed,
            "{extra}"
        );
    }
}

/// O15: the issuer is one exact string.
#[test]
fn another_issuer_is_refused() {
    for iss in [
        r#""https://as.example/""#,
        r#""https://AS.example""#,
        r#""https://as.example.evil.com""#,
        r#""""#,
    ] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!(r#""iss":{iss}"#)));
        assert_eq!(refusal(&token), JwtError::WrongIssuer, "{iss}");
    }
    for iss in [r#"["https://as.example"]"#, "null", "1"] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!(r#""iss":{iss}"#)));
        assert_eq!(refusal(&token), JwtError::Malformed, "{iss}");
    }
}

/// O15: the audience must be there, and be us.
#[test]
fn another_audience_is_refused() {
    for aud in [
        r#""https://other.example""#,
        r#""https://api.example/""#,
        r#""https://api.example https://x""#,
        "[]",
        r#"["demo-web"]"#,
    ] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!(r#""aud":{aud}"#)));
        assert_eq!(refusal(&token), JwtError::WrongAudience, "{aud}");
    }
    let several = with(CLAIMS, r#""aud":["https://other.example","https://api.example"]"#);
    assert!(verify_at(&forge(&header("at+jwt"), &several), now()).is_ok());
}

/// O15: what RFC 9068 §2.2 requires must be there and be of its type.
#[test]
fn a_missing_or_mistyped_claim_is_refused() {
    for name in ["iss", "sub", "aud", "client_id", "jti", "iat", "exp"] {
        let claims = without(CLAIMS, name);
        assert!(!claims.contains(&format!("\"{name}\"")), "{claims}");
        assert_eq!(
            refusal(&forge(&header("at+jwt"), &claims)),
            JwtError::Malformed,
            "{name}"
        );
        for value in ["null", "true", "{}", "-1", "1.5"] {
            let claims = with(CLAIMS, &format!("\"{name}\":{value}"));
            assert_eq!(
                refusal(&forge(&header("at+jwt"), &claims)),
                JwtError::Malformed,
                "{name} {value}"
            );
        }
    }
    for value in ["\"a  b\"", "[\"a\"]", "\" \"", "1"] {
        let claims = with(CLAIMS, &format!("\"scope\":{value}"));
        assert_eq!(
            refusal(&forge(&header("at+jwt"), &claims)),
            JwtError::Malformed,
            "{value}"
        );
    }
    let unscoped = verify_at(&forge(&header("at+jwt"), &without(CLAIMS, "scope")), now()).unwrap();
    assert!(unscoped.scopes.is_empty());
}

/// O15: dead at the exact instant of expiry, not alive before `nbf` and `iat`.
#[test]
fn a_token_expires_at_the_exact_instant() {
    let token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}"));
    let expiry = now() + Duration::from_secs(600);
    assert!(verify_at(&token, expiry - Duration::from_nanos(1)).is_ok());
    assert_eq!(verify_at(&token, expiry), Err(JwtError::Expired));
    assert_eq!(
        verify_at(&token, now() - Duration::from_nanos(1)),
        Err(JwtError::NotYetValid)
    );
    let later = forge(&header("at+jwt"), &with(CLAIMS, r#""nbf":1800000100"#));
    assert_eq!(
        verify_at(&later, now() + Duration::from_secs(99)),
        Err(JwtError::NotYetValid)
    );
    assert!(verify_at(&later, now() + Duration::from_secs(100)).is_ok());
}

/// O15: a token that is bound to a key is worth nothing without a check of that key.
#[test]
fn a_bound_token_is_refused() {
    for cnf in [r#"{"jkt":"x"}"#, r#"{"x5t#S256":"x"}"#, "null"] {
        let token = forge(&header("at+jwt"), &with(CLAIMS, &format!("\"cnf\":{cnf}")));
        assert_eq!(refusal(&token), JwtError::SenderConstrained);
    }
}

/// O18: an ID token is no access token, and the other way round, even if every claim fits.
#[test]
fn one_kind_of_token_never_passes_for_another() {
    for typ in [
        "JWT",
        "jwt",
        "application/jwt",
        "dpop+jwt",
        "logout+jwt",
        "token-introspection+jwt",
        "at+jwt2",
        "x/at+jwt",
        "",
    ] {
        let token = forge(&header(typ), &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::WrongType, "{typ}");
    }
    let untyped = format!(r#"{{"alg":"ES256","kid":"{}"}}"#, key().key_id());
    assert_eq!(
        refusal(&forge(&untyped, &format!("{{{CLAIMS}}}"))),
        JwtError::WrongType
    );
    assert!(verify_id(&forge(&untyped, &format!("{{{ID_CLAIMS}}}")), &id_policy()).is_ok());
    for typ in ["at+jwt", "application/at+jwt", "dpop+jwt", "logout+jwt"] {
        let token = forge(&header(typ), &format!("{{{ID_CLAIMS}}}"));
        assert_eq!(verify_id(&token, &id_policy()), Err(JwtError::WrongType), "{typ}");
    }
}

/// O15: one spelling per token: no padding, no whitespace, no trailing bits, three segments.
#[test]
fn only_the_canonical_serialization_is_read() {
    let token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}"));
    let [head, claims, signature] = <[&str; 3]>::try_from(token.split('.').collect::<Vec<_>>()).unwrap();
    let signature_bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let (kept, last) = signature.split_at(signature.len() - 1);
    // 64 bytes leave four bits over in the last character: fifteen others decode to the same bytes if one is lax
    let other_last = char::from(last.as_bytes()[0] + 1);
    let refused = [
        String::new(),
        ".".into(),
        "..".into(),
        "...".into(),
        format!("{head}.{claims}"),
        format!("{head}.{claims}.{signature}."),
        format!("{head}.{claims}.{signature}.x"),
        format!(".{claims}.{signature}"),
        format!("{head}..{signature}"),
        format!("{head}.{claims}.{signature}="),
        format!("{head}.{claims}.{}", URL_SAFE.encode(&signature_bytes)),
        format!("{head}.{claims}.{kept}{other_last}"),
        format!(" {token}"),
        format!("{token}\n"),
        format!("{head}.{claims} .{signature}"),
        format!("{head}.{}.{signature}", STANDARD.encode("{\"?\":\"~~~~\"}")),
        format!(r#"{{"protected":"{head}","payload":"{claims}","signature":"{signature}"}}"#),
        token.clone() + &"A".repeat(16 * 1024),
    ];
    for token in refused {
        assert_eq!(refusal(&token), JwtError::Malformed, "{token}");
    }
    assert_eq!(refusal(&format!("{head}.{claims}.")), JwtError::SignatureMismatch);
}

/// O15: a header or payload that is no object is refused.
#[test]
fn only_objects_are_headers_and_claims() {
    for text in [
        "",
        "null",
        "1",
        "[]",
        r#"["ES256","at+jwt"]"#,
        "{",
        "{}{}",
        "\u{feff}{}",
    ] {
        assert_eq!(
            refusal(&forge(text, &format!("{{{CLAIMS}}}"))),
            JwtError::Malformed,
            "{text}"
        );
        assert_eq!(
            refusal(&forge(&header("at+jwt"), text)),
            JwtError::Malformed,
            "{text}"
        );
    }
}

/// O18: the ID token is for us alone, and `azp` says nothing else.
#[test]
fn an_id_token_for_others_is_refused() {
    let check = |member: &str, expected: Result<(), JwtError>| {
        let token = forge(&header("JWT"), &with(ID_CLAIMS, member));
        assert_eq!(verify_id(&token, &id_policy()).map(|_| ()), expected, "{member}");
    };
    check(r#""aud":["demo-web"]"#, Ok(()));
    check(r#""azp":"demo-web""#, Ok(()));
    check(r#""aud":"demo-native""#, Err(JwtError::WrongAudience));
    check(r#""aud":[]"#, Err(JwtError::WrongAudience));
    check(
        r#""aud":["demo-web","demo-native"]"#,
        Err(JwtError::WrongAudience),
    );
    check(r#""azp":"demo-native""#, Err(JwtError::WrongAudience));
    check(r#""iss":"https://evil.com""#, Err(JwtError::WrongIssuer));
    check(r#""exp":1800000000"#, Err(JwtError::Expired));
    check(r#""iat":1800000001"#, Err(JwtError::NotYetValid));
    for name in ["iss", "sub", "aud", "exp", "iat"] {
        let token = forge(&header("JWT"), &without(ID_CLAIMS, name));
        assert_eq!(
            verify_id(&token, &id_policy()),
            Err(JwtError::Malformed),
            "{name}"
        );
    }
}

/// O18: the nonce must be that of the request, and must be there.
#[test]
fn an_id_token_of_another_sign_in_is_refused() {
    let policy = id_policy().with_nonce("n-1".parse().unwrap());
    let check = |claims: &str, expected: Result<(), JwtError>| {
        assert_eq!(
            verify_id(&forge(&header("JWT"), claims), &policy).map(|_| ()),
            expected,
            "{claims}"
        );
    };
    check(&with(ID_CLAIMS, r#""nonce":"n-1""#), Ok(()));
    check(&with(ID_CLAIMS, r#""nonce":"n-12""#), Err(JwtError::WrongNonce));
    check(&with(ID_CLAIMS, r#""nonce":"""#), Err(JwtError::WrongNonce));
    check(&format!("{{{ID_CLAIMS}}}"), Err(JwtError::WrongNonce));
    let other_person = id_policy().with_subject("eve".parse().unwrap());
    assert_eq!(
        verify_id(&forge(&header("JWT"), &format!("{{{ID_CLAIMS}}}")), &other_person),
        Err(JwtError::WrongSubject)
    );
}

/// O18: `at_hash`, where it is, ties the access token to the ID token; `alg` can be pinned.
#[test]
fn an_id_token_beside_another_access_token_is_refused() {
    let (mine, other): (AccessToken, AccessToken) = ("at_mine".parse().unwrap(), "at_other".parse().unwrap());
    let claims = IdTokenClaims {
        issuer: ISSUER.parse().unwrap(),
        subject: "ada".parse().unwrap(),
        audience: "demo-web".parse().unwrap(),
        nonce: None,
        issued_at: now(),
        expires_at: now() + Duration::from_secs(600),
        auth_time: Some(now()),
        email: Some("ada@example.com".into()),
        email_verified: Some(true),
        name: Some("Ada \"L\"".into()),
    };
    let token = claims.sign(&key(), Some(&mine)).unwrap();
    assert_eq!(
        verify_id(&token, &id_policy().with_access_token(mine.clone())),
        Ok(claims.clone())
    );
    assert_eq!(
        verify_id(&token, &id_policy().with_access_token(other)),
        Err(JwtError::WrongAccessToken)
    );
    let unbound = claims.sign(&key(), None).unwrap();
    assert_eq!(
        verify_id(&unbound, &id_policy().with_access_token(mine)),
        Ok(claims)
    );
    assert!(verify_id(&token, &id_policy().with_algorithm(Algorithm::Es256)).is_ok());
    assert_eq!(
        verify_id(&token, &id_policy().with_algorithm(Algorithm::Rs256)),
        Err(JwtError::UnsupportedAlgorithm)
    );
}

/// O22: while keys rotate, the retired one still verifies and the new one does already.
#[test]
fn both_keys_verify_while_they_rotate() {
    let (old, new) = (
        key(),
        SigningKey::generate_ed25519(&|bytes: &mut [u8]| bytes.fill(1)).unwrap(),
    );
    let both = KeySet::new([new.public_key().clone(), old.public_key().clone()]).unwrap();
    let policy = AccessTokenPolicy::new(ISSUER.parse().unwrap(), API.parse().unwrap());
    let claims = verify_at(&forge(&header("at+jwt"), &format!("{{{CLAIMS}}}")), now()).unwrap();
    for key in [old, new.clone()] {
        let token = claims.sign(&key).unwrap();
        assert_eq!(
            AccessTokenClaims::verify(token.expose(), &both, &policy, now()),
            Ok(claims.clone())
        );
    }
    let token = claims.sign(&new).unwrap();
    assert_eq!(
        AccessTokenClaims::verify(token.expose(), &keys(), &policy, now()),
        Err(JwtError::UnknownKey)
    );
}

proptest! {
    #[test]
    fn any_text_is_refused_without_panic(token in "[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_.-]{0,40}|.*") {
        prop_assert!(verify_at(&token, now()).is_err());
    }

    #[test]
    fn any_header_and_claims_are_read_without_panic(header in "\\{?\\PC*\\}?", claims in "\\{?\\PC*\\}?") {
        prop_assert!(verify_at(&forge(&header, &claims), now()).is_err());
    }

    /// O15: a token with one bit changed is not the token.
    #[test]
    fn a_flipped_bit_is_always_noticed(position in any::<prop::sample::Index>(), bit in 0..7_u8) {
        let mut token = forge(&header("at+jwt"), &format!("{{{CLAIMS}}}")).into_bytes();
        let position = position.index(token.len());
        token[position] ^= 1 << bit;
        if let Ok(token) = String::from_utf8(token) {
            prop_assert!(verify_at(&token, now()).is_err());
        }
    }
}
