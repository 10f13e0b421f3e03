//! When a stream of updates ends.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use service::app::{App, Body, Config};
use service::clock::DemoClock;
use store_sqlite::Database;

use crate::desk::{ALL_SCOPES, BASE, bearer, charge, request};

async fn open_with(clock: &DemoClock) -> Arc<App> {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.clock = clock.clone();
    Arc::new(App::open(config).await.unwrap())
}

async fn subscribe(app: &Arc<App>, token: &str) -> Body {
    let headers = [
        ("authorization", token),
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
    ];
    let query = r#"{"query":"subscription { chargeUpdated { id } }"}"#;
    let response = app.handle(request("POST", "/graphql", &headers, query)).await;
    assert_eq!(response.status(), 200);
    response.into_body()
}

/// Reads to the end, which must come.
async fn rest(body: Body) -> String {
    let read = tokio::time::timeout(Duration::from_secs(20), body.collect()).await;
    String::from_utf8_lossy(&read.unwrap().unwrap().to_bytes()).into_owned()
}

/// G10: a subscription does not outlive the token it was opened with.
#[tokio::test]
async fn a_stream_ends_with_its_token() {
    let clock = DemoClock::new();
    let app = open_with(&clock).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let reading = tokio::spawn(rest(subscribe(&app, &token).await));
    // the stream begins when it is first read
    tokio::task::yield_now().await;
    let path = charge(&app, &token, 500).await;
    clock.advance(Duration::from_secs(590));
    tokio::task::yield_now().await;
    assert!(!reading.is_finished());
    clock.advance(Duration::from_secs(10));
    let read = reading.await.unwrap();
    assert!(read.contains(path.trim_start_matches("/v1/charges/")), "{read}");
}

/// G10: a service that shuts down ends its streams, instead of waiting for them.
#[tokio::test]
async fn a_stream_ends_with_the_service() {
    let app = open_with(&DemoClock::new()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let before = subscribe(&app, &token).await;
    app.close();
    rest(before).await;
    // a request that was under way
    rest(subscribe(&app, &token).await).await;
}
