//! Overload: limits on requests in progress, and the deadline of reads.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::select_all;
use host_store_sqlite::{Database, DatabaseError};
use http::Response;
use service::app::{App, Config, Limits};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::browser::HTML;
use crate::desk::{ALL_SCOPES, BASE, ask, bearer, call, header, json, request};

const LIST: (&str, &str) = ("GET", "/v1/charges");
const CREATE: (&str, &str) = ("POST", "/v1/charges");
const CHARGE: &str = r#"{"amount":100,"currency":"eur"}"#;

/// A service with these limits, its database and a token.
async fn limited(limits: Limits) -> (Arc<App>, Database, String) {
    let database = Database::open_in_memory().unwrap();
    let mut config = Config::new(BASE, database.clone());
    config.limits = limits;
    let app = Arc::new(App::open(config).await.unwrap());
    let token = bearer(&app, ALL_SCOPES).await;
    (app, database, token)
}

/// Occupies the database until the sender is dropped.
async fn hang(database: &Database) -> Sender<()> {
    let (release, released) = channel::<()>();
    let (begin, begun) = oneshot::channel();
    let database = database.clone();
    tokio::spawn(async move {
        let occupied = database.write(move |_| {
            begin.send(()).unwrap();
            let _disconnected = released.recv();
            Ok::<_, DatabaseError>(())
        });
        occupied.await.unwrap();
    });
    begun.await.unwrap();
    release
}

fn spawn(
    app: &Arc<App>,
    token: &str,
    sent: (&'static str, &'static str),
    key: &'static [(&'static str, &'static str)],
) -> JoinHandle<Response<Bytes>> {
    let (app, token) = (Arc::clone(app), token.to_owned());
    let body = if sent == CREATE { CHARGE } else { "" };
    tokio::spawn(async move { call(&app, &token, sent, key, body).await })
}

fn expect_503(response: &Response<Bytes>, detail: &str) {
    assert_eq!(response.status(), 503, "{response:?}");
    assert_eq!(header(response.headers(), "retry-after"), "1");
    assert_eq!(header(response.headers(), "cache-control"), "no-store");
    assert_eq!(json(response).get("detail").unwrap(), detail);
}

/// H29: a read of a store that hangs gets 503 at its deadline; a write is not cut off, with a key
/// or without.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hung_store_refuses_reads_and_not_writes() {
    let mut limits = Limits::default();
    limits.read_time = Duration::from_millis(50);
    let (app, database, token) = limited(limits).await;
    let release = hang(&database).await;
    let writes = [
        spawn(&app, &token, CREATE, &[]),
        spawn(&app, &token, CREATE, &[("idempotency-key", "order-1")]),
    ];
    for path in [
        "/v1/charges",
        "/v1/customers",
        "/graphql?query=%7Bviewer%7Bsubject%7D%7D",
    ] {
        let refused = call(&app, &token, ("GET", path), &[], "").await;
        expect_503(&refused, "the request was not completed in time");
    }
    for write in writes {
        assert!(!write.is_finished());
    }
    drop(release);
}

/// H29: a write that waited longer than the deadline of reads takes effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_completes_after_the_deadline_of_reads() {
    let mut limits = Limits::default();
    limits.read_time = Duration::from_millis(50);
    let (app, database, token) = limited(limits).await;
    let release = hang(&database).await;
    let write = spawn(&app, &token, CREATE, &[("idempotency-key", "order-1")]);
    let read = call(&app, &token, LIST, &[], "").await;
    assert_eq!(read.status(), 503);
    drop(release);
    let written = write.await.unwrap();
    assert_eq!(written.status(), 201, "{written:?}");
}

/// H29: a request above the limit of requests in progress gets 503 at once; the reserve is for
/// writes with a key; permits return.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_above_the_limit_gets_503_at_once() {
    let mut limits = Limits::default();
    limits.in_progress = 8;
    let (app, database, token) = limited(limits).await;
    let release = hang(&database).await;
    let reads = (0..8).map(|_| spawn(&app, &token, LIST, &[]));
    // seven wait for the database
    let (refused, _, reads) = select_all(reads).await;
    let refused = refused.unwrap();
    expect_503(&refused, "too many requests are in progress");
    let page = ask(&app, request("GET", "/login", &[HTML], "")).await;
    assert_eq!(page.status(), 503);
    assert!(header(page.headers(), "content-type").starts_with("text/html"));
    let token_response = ask(&app, request("POST", "/token", &[], "")).await;
    assert_eq!(token_response.status(), 503);
    assert_eq!(
        json(&token_response).get("error").unwrap(),
        "temporarily_unavailable"
    );
    let write = spawn(&app, &token, CREATE, &[("idempotency-key", "order-1")]);
    drop(release);
    assert_eq!(write.await.unwrap().status(), 201);
    for read in reads {
        assert_eq!(read.await.unwrap().status(), 200);
    }
    assert_eq!(call(&app, &token, LIST, &[], "").await.status(), 200);
}
