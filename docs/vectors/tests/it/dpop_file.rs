//! `dpop.json`.

use oauth_core::{dpop::Htu, jose::Jwk, secret::TokenHash};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    dpop_proofs::{TOKEN, printed, proofs},
    file::{Case, VectorFile},
};

const RFC_9449: &str = "RFC 9449";

#[derive(Serialize)]
struct Key {
    jwk: Value,
}

#[derive(Serialize)]
struct Token {
    token: String,
}

#[derive(Serialize)]
struct Url {
    url: String,
}

fn thumbprint(name: &str, jwk: Value) -> Case<Key, Option<String>> {
    let mut jwk = jwk;
    jwk.sort_all_objects();
    let parsed = Jwk::parse(jwk.to_string().as_bytes()).ok();
    Case::new(name, Key { jwk }, parsed.map(|key| key.thumbprint().to_string()))
}

fn thumbprints() -> Vec<Case<Key, Option<String>>> {
    let rsa = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
    let ec = json!({
        "kty": "EC",
        "crv": "P-256",
        "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
        "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
    });
    let with = |name: &str, value: &str| {
        let mut jwk = ec.clone();
        jwk[name] = value.into();
        jwk
    };
    let okp = json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
    let known = |text: &str| Some(text.to_owned());
    vec![
        thumbprint(
            "RSA",
            json!({ "kty": "RSA", "n": rsa, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29" }),
        )
        .known(
            "RFC 7638, section 3.1",
            &known("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"),
        ),
        thumbprint("Ed25519", okp).known(
            "RFC 8037, appendix A.3",
            &known("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"),
        ),
        thumbprint("P-256", ec.clone())
            .known(RFC_9449, &known("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")),
        thumbprint("members that are not hashed", with("kid", "2026-01")),
        thumbprint(
            "a private key",
            with("d", "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"),
        ),
        thumbprint("a key for encryption", with("use", "enc")),
        thumbprint("a key for another algorithm", with("alg", "ES384")),
        thumbprint(
            "a coordinate of 31 bytes",
            with("x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ),
    ]
}

fn token_hashes() -> Vec<Case<Token, String>> {
    let hash = |name: &str, token: &str| {
        let input = Token {
            token: token.to_owned(),
        };
        Case::new(name, input, TokenHash::new(token).to_string())
    };
    vec![
        hash("section 7.1", TOKEN).known(
            RFC_9449,
            &"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo".to_owned(),
        ),
        hash("an empty token", ""),
    ]
}

fn urls() -> Vec<Case<Url, Option<String>>> {
    let case = |url: &str| {
        let expect = url.parse::<Htu>().ok().map(|url| url.to_string());
        Case::new(url, Url { url: url.to_owned() }, expect)
    };
    let texts = [
        "https://api.example/a/b~c",
        "https://api.example/a/b~c?x=y#z",
        "HTTPS://API.EXAMPLE/a/b~c",
        "https://api.example:443/a/b~c",
        "https://api.example:8443/a",
        "https://api.example/a/b%7ec",
        "https://api.example/%61/b~c",
        "https://api.example/a/./x/../b~c",
        "https://api.example/a/%2e/b~c",
        "https://api.example/a%2fb",
        "https://api.example/a//b",
        "https://api.example",
        "http://127.0.0.1:80/",
        "http://[::1]:8080/a",
        "https://api.example/a%3ab",
        "/a",
        "//api.example/a",
        "https:api.example/a",
        "https:///api.example/a",
        "https://ada@api.example/a",
        "https://api.example/a b",
        "https://api.example/a%2",
        "https://api.example/a\\b",
        "ftp://api.example/a",
        "https://api.example:99999/a",
        "",
    ];
    texts.map(case).into()
}

/// O20, DP1 to DP12: the file says what the verifier of proofs decides; the proofs that RFC 9449
/// prints are accepted, and its hash and the printed thumbprints hold.
#[test]
fn dpop_is_as_the_crate_decides() {
    let cases = [printed(), proofs()].concat();
    VectorFile::new(
        "dpop.json",
        "DPoP, RFC 9449: keys, hashes of access tokens, URLs, proofs",
    )
    .with_cases("thumbprints", &thumbprints())
    .with_cases("token_hashes", &token_hashes())
    .with_cases("urls", &urls())
    .with_cases("proofs", &cases)
    .check();
}
