//! The measured servers: an authorization server on memory stores, and a fixed response, both
//! behind the suite's adapter.

use std::net::TcpListener;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use oauth_core::{
    grant::AccessTokenFormat,
    jose::{SigningKey, SigningKeys},
    memory::{MemoryClients, MemoryInteractions, MemoryTokens},
    ports::{OsEntropy, SystemClock},
    server::AuthorizationServer,
    store::{ClientSecrets, GrantType, RegisteredClient},
};

use crate::load::{CLIENT, SCOPE, SECRET};

const API: &str = "https://api.example";
/// Length of a response to a client credentials grant.
const ANSWER: usize = 480;

/// Serves until it is killed.
pub(crate) async fn serve(what: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("listening {}", listener.local_addr()?.port());
    let refuse = |_: &Request<()>, status: StatusCode| {
        Response::builder()
            .status(status)
            .body(Bytes::new())
            .unwrap_or_default()
    };
    let (limits, never) = (Default::default(), std::future::pending());
    if what == "bare" {
        let answer = Bytes::from(vec![b'x'; ANSWER]);
        let handler = move |_: Request<Bytes>| {
            let answer = answer.clone();
            async { Response::new(Full::new(answer)) }
        };
        return host_adapter_hyper::serve(listener, handler, refuse, limits, never).await;
    }
    let format = match what {
        "ours opaque" => AccessTokenFormat::Opaque,
        _ => AccessTokenFormat::Jwt,
    };
    let server = authorization_server(format);
    let handler = move |request: Request<Bytes>| {
        let server = server.clone();
        async move {
            let answer = match request.uri().path() {
                "/token" => server.token(request).await,
                _ => server.introspect(request).await,
            };
            answer.response.map(Full::new)
        }
    };
    host_adapter_hyper::serve(listener, handler, refuse, limits, never).await
}

fn authorization_server(format: AccessTokenFormat) -> AuthorizationServer {
    let secret = SECRET.parse().expect("a secret");
    let client =
        RegisteredClient::confidential(CLIENT.parse().expect("a client"), ClientSecrets::new(&secret))
            .with_grant_types([GrantType::ClientCredentials])
            .with_scopes(SCOPE.parse().expect("scopes"));
    let key = SigningKey::generate_ed25519(&OsEntropy).expect("a key");
    AuthorizationServer::builder("http://127.0.0.1:8080")
        .with_clients(MemoryClients::from_iter([client]))
        .with_interactions(MemoryInteractions::new())
        .with_tokens(MemoryTokens::new())
        .with_clock(SystemClock)
        .with_entropy(OsEntropy)
        .with_signing_keys(SigningKeys::new(key))
        .with_audience(API)
        .with_access_token_format(format)
        .build()
        .expect("a server")
}
