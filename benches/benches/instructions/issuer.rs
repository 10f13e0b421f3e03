//! Token endpoint and introspection of an authorization server on memory stores, in process.

use std::hint::black_box;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::Request;
use oauth_core::grant::AccessTokenFormat;
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions, MemoryTokens};
use oauth_core::ports::{OsEntropy, entropy_fn};
use oauth_core::server::AuthorizationServer;
use oauth_core::store::{ClientSecrets, GrantType, RegisteredClient};

use crate::{Case, Stopped};

const CLIENT: &str = "bench";
const SECRET: &str = "the-secret-of-the-bench-and-of-no-one-else";
const SCOPE: &str = "read:charges";

pub(crate) fn cases() -> Vec<Case> {
    let issue = |format| -> Box<dyn FnMut()> {
        let (server, request) = (server(format), issue());
        Box::new(move || {
            black_box(token(&server, request.clone()));
        })
    };
    vec![
        ("client credentials: EdDSA JWT", issue(AccessTokenFormat::Jwt)),
        ("client credentials: opaque", issue(AccessTokenFormat::Opaque)),
        ("introspection: opaque", introspect()),
    ]
}

fn introspect() -> Box<dyn FnMut()> {
    let server = server(AccessTokenFormat::Opaque);
    let issued: serde_json::Value = serde_json::from_slice(&token(&server, issue())).expect("JSON");
    let token = issued.get("access_token").and_then(|token| token.as_str());
    let request = post("/introspect", format!("token={}", token.expect("a token")));
    Box::new(move || {
        let answered = server.introspect(request.clone()).now_or_never();
        let body = answered.expect("at once").response.into_body();
        assert!(body.starts_with(br#"{"active":true"#));
    })
}

fn token(server: &AuthorizationServer, request: Request<Bytes>) -> Bytes {
    let response = server.token(request).now_or_never().expect("at once").response;
    assert_eq!(response.status(), 200);
    response.into_body()
}

fn issue() -> Request<Bytes> {
    post("/token", format!("grant_type=client_credentials&scope={SCOPE}"))
}

fn post(path: &str, form: String) -> Request<Bytes> {
    let credentials = BASE64_STANDARD.encode(format!("{CLIENT}:{SECRET}"));
    Request::post(path)
        .header("authorization", format!("Basic {credentials}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form.into())
        .expect("a request")
}

fn server(format: AccessTokenFormat) -> AuthorizationServer {
    let secret = SECRET.parse().expect("a secret");
    let client =
        RegisteredClient::confidential(CLIENT.parse().expect("a client"), ClientSecrets::new(&secret))
            .with_grant_types([GrantType::ClientCredentials])
            .with_scopes(SCOPE.parse().expect("scopes"));
    let sevens = entropy_fn(|bytes: &mut [u8]| bytes.fill(7));
    AuthorizationServer::builder("http://127.0.0.1:8080")
        .with_clients(MemoryClients::from_iter([client]))
        .with_interactions(MemoryInteractions::new())
        .with_tokens(MemoryTokens::new())
        .with_clock(Stopped)
        .with_entropy(OsEntropy)
        .with_signing_keys(SigningKeys::new(
            SigningKey::generate_ed25519(&sevens).expect("a key"),
        ))
        .with_audience("https://api.example")
        .with_access_token_format(format)
        .build()
        .expect("a server")
}
