//! Attacks through the header.

use super::*;
use crate::ports::entropy_fn;

/// O15, 65: an unsigned token is refused, in any letter case of `none`.
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

/// O15, 67: an HMAC with the public key as its secret is refused, in any encoding of the key.
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

/// O15, 65: `alg` must be the algorithm of the key.
#[test]
fn another_algorithm_than_the_keys_is_refused() {
    for alg in ["EdDSA", "RS256"] {
        let token = forge(&header("at+jwt").replace("ES256", alg), &format!("{{{CLAIMS}}}"));
        assert_eq!(refusal(&token), JwtError::UnsupportedAlgorithm, "{alg}");
    }
}

/// O15, 68: a key that the token contains or points to is never used.
#[test]
fn a_key_in_the_header_is_never_used() {
    let thief = SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(9))).unwrap();
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

/// O15: a `kid` is only compared with those of the keys, so paths, URLs and queries in it find no
/// key.
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

/// O15, 69, 70: extensions that change the signed content are refused, with any value.
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
