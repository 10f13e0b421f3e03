//! Attacks on the header, the key and the signature.

use super::*;

/// DP4: a token with another `typ` is refused as a proof even if all else is valid, and a proof is
/// refused as an access token.
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

/// DP5: `alg` must be asymmetric, accepted, and the algorithm of the key.
#[test]
fn a_proof_is_of_an_accepted_algorithm() {
    let jwk = jwk(&key());
    for alg in [
        "none", "None", "HS256", "RS256", "PS256", "ES384", "es256", "ed25519", "Ed448", "",
    ] {
        let header = format!(r#"{{"typ":"dpop+jwt","alg":"{alg}","jwk":{{{jwk}}}}}"#);
        check_header(&header, Err(ProofError::UnsupportedAlgorithm));
    }
    for alg in ["EdDSA", "Ed25519"] {
        let header = format!(r#"{{"typ":"dpop+jwt","alg":"{alg}","jwk":{{{jwk}}}}}"#);
        check_header(&header, Err(ProofError::UnusableKey));
    }
}

/// DP6: the signature must be valid for the whole proof under the embedded key.
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
    // other claims with the signature of the first proof
    let other = forge(&header(), &changed("\"1\"", "\"2\""));
    let (other, _) = other.rsplit_once('.').unwrap();
    assert_eq!(verify(&format!("{other}.{signature}")), mismatch);
}

/// DP7: keys with a private member, symmetric keys and keys for another use are refused.
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
    // descriptive members are ignored
    let header = format!(
        r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{{{jwk},"kid":"1","use":"sig","ext":true,"alg":"ES256"}}}}"#
    );
    check_header(&header, Ok(()));
}

/// DP7, DP13, 79: coordinates have fixed lengths, so that a key has one thumbprint and one set of
/// replay keys.
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
