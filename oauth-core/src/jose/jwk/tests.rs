use proptest::prelude::*;

use super::*;

const RSA_N: &str = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj\
     hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbI\
     SD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
const P256_X: &str = "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs";
const P256_Y: &str = "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA";

fn parse(document: &str) -> Result<Jwk, InvalidKey> {
    Jwk::parse(document.as_bytes())
}

fn p256(more: &str) -> String {
    format!(r#"{{"kty":"EC","crv":"P-256","x":"{P256_X}","y":"{P256_Y}"{more}}}"#)
}

/// O15: the thumbprint vectors of RFC 7638 §3.1, RFC 8037 A.3 and RFC 9449 §6.1.
#[test]
fn the_thumbprint_vectors_hold() {
    let check = |document: &str, expected: &str| {
        assert_eq!(parse(document).unwrap().thumbprint().to_string(), expected);
    };
    check(
        &format!(r#"{{"kty":"RSA","n":"{RSA_N}","e":"AQAB","alg":"RS256","kid":"2011-04-29"}}"#),
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
    );
    check(
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    );
    check(&p256(""), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
}

#[test]
fn key_round_trips_through_json() {
    let key = parse(&p256(r#","kid":"k\"1","unknown":{"a":1}"#)).unwrap();
    assert_eq!(key.key_id(), Some("k\"1"));
    assert_eq!(parse(&key.to_json()), Ok(key.clone()));
    let expected = format!(
        r#"{{"crv":"P-256","kty":"EC","x":"{P256_X}","y":"{P256_Y}","kid":"k\"1","alg":"ES256","use":"sig"}}"#
    );
    assert_eq!(key.to_json(), expected);
}

/// O15, 66: a key whose `use`, `key_ops` or `alg` forbids verification is refused (Wycheproof JWS
/// 353 to 356).
#[test]
fn a_key_for_another_use_or_algorithm_is_refused() {
    for more in [
        r#","use":"sig""#,
        r#","key_ops":["verify"]"#,
        r#","key_ops":["sign","verify"]"#,
        r#","alg":"ES256""#,
    ] {
        assert!(parse(&p256(more)).is_ok(), "{more}");
    }
    let refused = [
        r#","use":"enc""#,
        r#","use":"SIG""#,
        r#","use":"""#,
        r#","key_ops":["encrypt"]"#,
        r#","key_ops":["sign"]"#,
        r#","key_ops":[]"#,
        r#","key_ops":"verify""#,
        r#","alg":"ES384""#,
        r#","alg":"HS256""#,
        r#","alg":"none""#,
    ];
    for more in refused {
        assert_eq!(parse(&p256(more)), Err(InvalidKey), "{more}");
    }
}

/// O30: an RSA key with `alg` verifies one algorithm, and without `alg` all RSA algorithms.
#[test]
fn alg_limits_an_rsa_key_to_one_algorithm() {
    let rsa = |more: &str| parse(&format!(r#"{{"kty":"RSA","n":"{RSA_N}","e":"AQAB"{more}}}"#));
    let accepted = |key: &Jwk| {
        Algorithm::ALL
            .into_iter()
            .filter(|alg| key.can_verify(*alg))
            .collect()
    };
    let open = rsa("").unwrap();
    let all: Vec<_> = accepted(&open);
    assert_eq!(all, Algorithm::RSA);
    assert!(!open.to_json().contains("alg"));
    for algorithm in Algorithm::RSA {
        let key = rsa(&format!(r#","alg":"{algorithm}""#)).unwrap();
        let only: Vec<_> = accepted(&key);
        assert_eq!(only, [algorithm]);
        assert_eq!(parse(&key.to_json()), Ok(key));
    }
    for name in ["RSA-OAEP", "ES256", "HS256", "none", ""] {
        assert_eq!(rsa(&format!(r#","alg":"{name}""#)), Err(InvalidKey), "{name}");
    }
}

/// O15: a document with a private member is refused.
#[test]
fn a_private_part_is_refused() {
    for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"] {
        for value in ["\"AA\"", "null", "[]"] {
            assert_eq!(
                parse(&p256(&format!(r#","{name}":{value}"#))),
                Err(InvalidKey),
                "{name}"
            );
        }
    }
}

/// O15, 79: coordinates of another length are refused, so that one key has one thumbprint.
#[test]
fn a_coordinate_of_another_length_is_refused() {
    let (x, y) = (
        URL_SAFE_NO_PAD.decode(P256_X).unwrap(),
        URL_SAFE_NO_PAD.decode(P256_Y).unwrap(),
    );
    let point = [x, y].concat();
    for border in [0, 31, 33, 64] {
        let (x, y) = point.split_at(border);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        assert_eq!(
            parse(&format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#)),
            Err(InvalidKey)
        );
    }
    let padded = format!(r#"{{"kty":"EC","crv":"P-256","x":"{P256_X}=","y":"{P256_Y}"}}"#);
    assert_eq!(parse(&padded), Err(InvalidKey));
    let trailing_bits = format!(
        r#"{{"kty":"EC","crv":"P-256","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFt","y":"{P256_Y}"}}"#
    );
    assert_eq!(parse(&trailing_bits), Err(InvalidKey));
}

#[test]
fn the_curve_must_be_the_one_of_the_key_type() {
    let refused = [
        format!(r#"{{"kty":"EC","crv":"P-384","x":"{P256_X}","y":"{P256_Y}"}}"#),
        format!(r#"{{"kty":"EC","x":"{P256_X}","y":"{P256_Y}"}}"#),
        format!(r#"{{"kty":"EC","crv":"Ed25519","x":"{P256_X}"}}"#),
        format!(r#"{{"kty":"OKP","crv":"X25519","x":"{P256_X}"}}"#),
        format!(r#"{{"kty":"EC","crv":"P-256","x":"{P256_X}"}}"#),
        r#"{"kty":"oct","k":"AAAA"}"#.to_owned(),
        r#"{"kty":"ec","crv":"P-256"}"#.to_owned(),
        r#"["EC","P-256"]"#.to_owned(),
        String::new(),
    ];
    for document in refused {
        assert_eq!(parse(&document), Err(InvalidKey), "{document}");
    }
    assert_eq!(parse(&p256(r#","kty":"EC""#)), Err(InvalidKey), "a member twice");
}

/// O15, 78: weak RSA keys are refused (Wycheproof JWK 7 to 9).
#[test]
fn a_weak_rsa_key_is_refused() {
    let check = |n: &[u8], e: &[u8], usable: bool| {
        let (n, e) = (URL_SAFE_NO_PAD.encode(n), URL_SAFE_NO_PAD.encode(e));
        assert_eq!(
            parse(&format!(r#"{{"kty":"RSA","n":"{n}","e":"{e}"}}"#)).is_ok(),
            usable,
            "{e}"
        );
    };
    let n = [[0x80; 255].as_slice(), &[1]].concat();
    check(&n, &[1, 0, 1], true);
    check(&n, &[3], false);
    check(&n, &[1], false);
    check(&n, &[], false);
    check(&n, &[1, 0, 2], false);
    check(&n, &[0, 1, 0, 1], false);
    check(&n, &[1; 9], false);
    check(&[[0x7f; 255].as_slice(), &[1]].concat(), &[1, 0, 1], false);
    check(&[[0x80; 127].as_slice(), &[1]].concat(), &[1, 0, 1], false);
    check(&[&[0], n.as_slice()].concat(), &[1, 0, 1], false);
    check(&[[0x80; 1024].as_slice(), &[1]].concat(), &[1, 0, 1], false);
    check(&[0x80; 256], &[1, 0, 1], false);
}

proptest! {
    #[test]
    fn any_bytes_parse_or_fail_without_panic(bytes: Vec<u8>) {
        drop(Jwk::parse(&bytes));
    }

    #[test]
    fn a_thumbprint_depends_on_the_key_alone(x: [u8; 32], kid in "[a-z]{0,4}") {
        let key = PublicKey::Ed25519 { x };
        prop_assert_eq!(Jwk::new(Some(&kid), key.clone(), None).thumbprint(), Jwk::new(None, key, None).thumbprint());
    }
}

/// O15, 65, 79, 80: the vectors RFC 7515 A.2 (RS256), A.3 (ES256) and RFC 8037 A.4 (EdDSA) verify,
/// and altered vectors do not.
#[test]
fn the_signature_vectors_hold() {
    let check = |document: &str, signed: &str, signature: &str| {
        let (key, signature) = (
            parse(document).unwrap(),
            URL_SAFE_NO_PAD.decode(signature).unwrap(),
        );
        assert_eq!(key.verify(key.algorithm(), signed.as_bytes(), &signature), Ok(()));
        for index in [0, signature.len() / 2, signature.len() - 1] {
            let mut flipped = signature.clone();
            flipped[index] ^= 1;
            assert!(key.verify(key.algorithm(), signed.as_bytes(), &flipped).is_err());
        }
        let longer = [signature.as_slice(), &[0]].concat();
        assert!(key.verify(key.algorithm(), signed.as_bytes(), &longer).is_err());
        assert!(
            key.verify(key.algorithm(), signed.as_bytes(), &signature[1..])
                .is_err()
        );
        assert!(
            key.verify(key.algorithm(), &signed.as_bytes()[1..], &signature)
                .is_err()
        );
    };
    let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    check(
        r#"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
        &format!("eyJhbGciOiJSUzI1NiJ9.{claims}"),
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
    );
    check(
        r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        &format!("eyJhbGciOiJFUzI1NiJ9.{claims}"),
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
    );
    check(
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
    );
}

/// O15, 79, 80: under a key whose point is not on the curve, no signature is valid.
#[test]
fn a_point_beside_the_curve_verifies_nothing() {
    let key = Jwk::new(None, PublicKey::p256(&[1; 32], &[1; 32]).unwrap(), None);
    assert!(key.verify(Algorithm::Es256, b"m", &[1; 64]).is_err());
    let key = Jwk::new(None, PublicKey::Ed25519 { x: [0; 32] }, None);
    assert!(
        key.verify(Algorithm::EdDsa, b"m", &[0; 64]).is_err(),
        "a point of small order"
    );
}
