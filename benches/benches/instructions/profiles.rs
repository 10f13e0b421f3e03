//! Resource server with the access tokens of common issuers, each under its own profile. All
//! tokens have an EdDSA signature of one fixed key, so that two runs do the same work.

use std::hint::black_box;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::FutureExt as _;
use http::Request;
use http::request::Parts;
use oauth_core::jose::{IssuerProfile, Jwk, KeySet};
use oauth_core::resource::ResourceServer;
use serde_json::{Map, Value};

use crate::{Case, now};

const API: &str = "https://api.example";
const ISSUER: &str = "https://login.example/tenant";

/// Name and profile, the members of the header beside `alg` and `kid`, and the claims beside the
/// issuer and the times. The values are those of the issuers' documentation.
#[expect(clippy::too_many_lines, reason = "a table of seven tokens")]
fn issuers() -> [(&'static str, IssuerProfile, &'static str, &'static str); 7] {
    let cognito = IssuerProfile::cognito(["0oa1gjh63g214q0Hq0g4".parse().expect("a client")]);
    [
        (
            "rfc9068",
            IssuerProfile::rfc9068(),
            r#"{"typ":"at+jwt"}"#,
            r#"{"sub":"ada","aud":"https://api.example","client_id":"0oa1gjh63g214q0Hq0g4","jti":"1",
                "scope":"read:charges"}"#,
        ),
        (
            "keycloak",
            IssuerProfile::keycloak(),
            r#"{"typ":"JWT"}"#,
            r#"{"jti":"onrtac:7b6c7f4c-4b1f-4c55-9a0a-5f6f1c8e0a11","aud":["https://api.example","account"],
                "sub":"f:3a1b:ada","typ":"Bearer","azp":"0oa1gjh63g214q0Hq0g4",
                "sid":"0a8cf2d1-1c63-4b22-a1c5-9d9f2f2f4a10","acr":"1",
                "allowed-origins":["https://app.example"],
                "realm_access":{"roles":["offline_access","clerk"]},
                "resource_access":{"account":{"roles":["view-profile"]}},
                "scope":"read:charges profile email","email_verified":true,"preferred_username":"ada"}"#,
        ),
        (
            "auth0",
            IssuerProfile::auth0(),
            r#"{"typ":"JWT"}"#,
            r#"{"sub":"auth0|5f7c8ec7c33c6c004bbafe82",
                "aud":["https://api.example","https://tenant.example.auth0.com/userinfo"],
                "azp":"0oa1gjh63g214q0Hq0g4","scope":"openid read:charges","permissions":["clerk"]}"#,
        ),
        (
            "okta",
            IssuerProfile::okta(),
            "{}",
            r#"{"ver":1,"jti":"AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE","aud":"https://api.example",
                "cid":"0oa1gjh63g214q0Hq0g4","uid":"00u1abvz4pYqdM8ms4x6","scp":["openid","read:charges"],
                "auth_time":1799999940,"sub":"ada@example.com","groups":["clerk"]}"#,
        ),
        (
            "entra_id v1",
            IssuerProfile::entra_id(),
            r#"{"typ":"JWT"}"#,
            r#"{"aud":"https://api.example","nbf":1800000000,"aio":"AXQAi/8IAAAAtAaZ",
                "appid":"0oa1gjh63g214q0Hq0g4","appidacr":"0","name":"Ada",
                "oid":"690222be-ff1a-4d56-abd1-7e4f7d38e474","rh":"I","roles":["clerk"],
                "scp":"access_as_user read:charges","sub":"HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ",
                "tid":"72f988bf-86f1-41af-91ab-2d7cd011db47","uti":"fqiBqXLPj0eQa82S-IYFAA","ver":"1.0"}"#,
        ),
        (
            "entra_id v2",
            IssuerProfile::entra_id(),
            r#"{"typ":"JWT"}"#,
            r#"{"aud":"https://api.example","nbf":1800000000,"aio":"AXQAi/8IAAAAtAaZ",
                "azp":"0oa1gjh63g214q0Hq0g4","azpacr":"1","name":"Ada",
                "oid":"690222be-ff1a-4d56-abd1-7e4f7d38e474","rh":"I","roles":["clerk"],
                "scp":"access_as_user read:charges","sub":"HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ",
                "tid":"72f988bf-86f1-41af-91ab-2d7cd011db47","uti":"fqiBqXLPj0eQa82S-IYFAA","ver":"2.0"}"#,
        ),
        (
            "cognito",
            cognito,
            "{}",
            r#"{"sub":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee","cognito:groups":["clerk"],"version":2,
                "client_id":"0oa1gjh63g214q0Hq0g4","origin_jti":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
                "token_use":"access","scope":"openid read:charges","auth_time":1799999940,
                "jti":"aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee","username":"ada"}"#,
        ),
    ]
}

/// `guard NAME: …` without the cache, from the cache, and up to the signature, which is cut off.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (name, profile, header, claims) in issuers() {
        let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key");
        let token = signed(&key, header, claims);
        let (known, short) = (head(&token), head(without_end(&token)));
        let caching = server(&key).with_issuer_profile(profile);
        let cold = caching.clone().with_cache(0);
        let cut = cold.clone();
        let request = known.clone();
        let mut row = |what: &str, run| cases.push((format!("guard {name}: {what}").leak(), run));
        row(
            "complete",
            Box::new(move || assert!(authenticates(&cold, &request))) as Box<dyn FnMut()>,
        );
        row(
            "seen again",
            Box::new(move || assert!(authenticates(&caching, &known))),
        );
        row(
            "without the signature",
            Box::new(move || assert!(!authenticates(&cut, &short))),
        );
    }
    cases
}

/// The token without its last six characters.
fn without_end(token: &str) -> &str {
    token.get(..token.len() - 6).unwrap_or_default()
}

fn authenticates(server: &ResourceServer, head: &Parts) -> bool {
    let answered = server.authenticate(black_box(head), now()).now_or_never();
    answered.expect("at once").is_ok()
}

fn server(key: &Ed25519KeyPair) -> ResourceServer {
    let x = BASE64_URL_SAFE_NO_PAD.encode(key.public_key());
    let public = format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{KEY}","x":"{x}"}}"#);
    let public = Jwk::parse(public.as_bytes()).expect("a key");
    let keys = KeySet::new([public]).expect("a set");
    ResourceServer::new(
        ISSUER.parse().expect("an issuer"),
        API.parse().expect("an audience"),
        keys,
    )
}

const KEY: &str = "2026-11";

fn signed(key: &Ed25519KeyPair, header: &str, claims: &str) -> String {
    let header = with(header, [("alg", "EdDSA".into()), ("kid", KEY.into())]);
    let times = [("iat", 1_800_000_000.into()), ("exp", 1_800_000_300.into())];
    let claims = with(claims, [("iss", ISSUER.into())].into_iter().chain(times));
    let [header, claims] = [header, claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
    let text = format!("{header}.{claims}");
    let signature = BASE64_URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes()));
    format!("{text}.{signature}")
}

fn with(document: &str, members: impl IntoIterator<Item = (&'static str, Value)>) -> String {
    let mut document: Map<String, Value> = serde_json::from_str(document).expect("an object");
    document.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
    serde_json::to_string(&document).expect("JSON")
}

fn head(token: &str) -> Parts {
    let request = Request::get("/v1/charges").header("authorization", format!("Bearer {token}"));
    request.body(()).expect("a request").into_parts().0
}
