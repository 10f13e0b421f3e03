//! Four parallel requests over HTTP, each on a connection of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use host_adapter_hyper::Limits;
use host_store_sqlite::Database;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use http_conventions::errors::Problem;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use oauth_core::store::TokenStore;
use oauth_core_conformance::Delayed;
use oauth_core_conformance::parallel_requests::{REQUESTS, TestServer, refresh_token};
use service::app::{App, Config};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::desk::{BASE, ask, header, json, request};

const REDIRECT: &str = "http://127.0.0.1:9999/callback";

/// A server on a free port; stopped on drop.
struct Served {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Serves `handler`.
macro_rules! serve {
    ($handler:expr) => {{
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move {
            let forever = std::future::pending();
            let refuse = |_: &Request<()>, status| Problem::of_status(status).into_response();
            host_adapter_hyper::serve(listener, $handler, refuse, Limits::default(), forever)
                .await
                .unwrap();
        });
        Served { address, serving }
    }};
}

impl Served {
    async fn send(&self, mut request: Request<Bytes>) -> Response<Bytes> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        request
            .headers_mut()
            .insert(HOST, HeaderValue::from_static("auth.example"));
        let (parts, body) = sender
            .send_request(request.map(Full::new))
            .await
            .unwrap()
            .into_parts();
        Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
    }

    async fn send_at_once(&self, request: impl Fn() -> Request<Bytes>) -> Vec<Response<Bytes>> {
        join_all((0..REQUESTS).map(|_| self.send(request()))).await
    }
}

fn slow(store: Arc<dyn TokenStore>) -> Arc<dyn TokenStore> {
    Arc::new(Delayed::new(store, || {
        tokio::time::sleep(Duration::from_millis(5))
    }))
}

/// Redeems and refreshes four times in parallel.
async fn check(store: Arc<dyn TokenStore>) {
    let server = Arc::new(TestServer::new(store));
    let served = {
        let server = Arc::clone(&server);
        serve!(move |request| {
            let server = Arc::clone(&server);
            async move { server.send(request).await.map(Full::new) }
        })
    };
    let code = server.issue_code().await;
    server
        .assert_one_success(
            &served
                .send_at_once(|| TestServer::redemption_request(&code))
                .await,
        )
        .await;

    let code = server.issue_code().await;
    let presented = refresh_token(&served.send(TestServer::redemption_request(&code)).await);
    server
        .assert_one_success(
            &served
                .send_at_once(|| TestServer::refresh_request(&presented))
                .await,
        )
        .await;
}

/// O6, O10: over HTTP one of four requests succeeds, and no token family is forked.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_four_http_requests_succeeds() {
    check(Arc::new(Database::open_in_memory().unwrap())).await;
}

/// O6, O10: one of four requests succeeds, also if a slow store lets all four read before one
/// writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_four_requests_succeeds_on_a_slow_store() {
    check(slow(Arc::new(Database::open_in_memory().unwrap()))).await;
}

/// O6, O10: one of four requests to the complete service succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_four_requests_to_the_service_succeeds() {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.sign_in_as = Some("ada@example.com".to_owned());
    let app = Arc::new(App::open(config).await.unwrap());
    let served = {
        let app = Arc::clone(&app);
        serve!(move |request| {
            let app = Arc::clone(&app);
            async move { app.handle(request).await }
        })
    };
    let (code, fresh) = (code(&app).await, code(&app).await);
    check_one(&served.send_at_once(|| token(&redemption(&code))).await);

    let presented = refresh_token(&served.send(token(&redemption(&fresh))).await);
    let body = format!("grant_type=refresh_token&client_id=demo-native&refresh_token={presented}");
    check_one(&served.send_at_once(|| token(&body)).await);
}

/// A code of the native client, with `sign_in_as`.
async fn code(app: &Arc<App>) -> String {
    let uri = format!(
        "/authorize?response_type=code&client_id=demo-native&redirect_uri={REDIRECT}&scope=read:charges&state=s\
         &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
    );
    let back = ask(app, request("GET", &uri, &[], "")).await;
    let query = header(back.headers(), "location").split_once('?').unwrap().1;
    let (_, code) = form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "code")
        .unwrap();
    code.into_owned()
}

fn redemption(code: &str) -> String {
    format!(
        "grant_type=authorization_code&client_id=demo-native&code={code}&redirect_uri={REDIRECT}\
         &code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    )
}

fn token(body: &str) -> Request<Bytes> {
    let mut request = request("POST", "/token", &[], body.to_owned());
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(CONTENT_TYPE, form);
    request
}

fn check_one(responses: &[Response<Bytes>]) {
    let (won, lost): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status() == 200);
    assert_eq!(won.len(), 1, "{responses:?}");
    for response in lost {
        assert_eq!(response.status(), 400);
        assert_eq!(json(response).get("error").unwrap(), "invalid_grant");
    }
}
