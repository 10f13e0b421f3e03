//! Events of pages that stay open.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use http_body_util::BodyExt as _;
use service::app::{App, Body, Config};
use service::clock::DemoClock;

use super::signed_in;
use crate::browser::Browser;
use crate::desk::{ALL_SCOPES, BASE, ask, bearer, charge, header, request};
use crate::refunds::working;

/// Time limit of an event; the slowest source is the end of a session without a change.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens the stream with the cookies of the browser.
async fn listen(app: &Arc<App>, browser: &Browser) -> Response<Body> {
    let cookies: Vec<_> = browser
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let headers = [
        ("cookie", cookies.join("; ")),
        ("accept", "text/event-stream".to_owned()),
    ];
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    app.handle(request("GET", "/console/live", &headers, "")).await
}

/// The next chunk of the stream; `None` at its end.
async fn next(stream: &mut Response<Body>) -> Option<Bytes> {
    let frame = tokio::time::timeout(PATIENCE, stream.body_mut().frame()).await;
    frame.unwrap().map(|frame| frame.unwrap().into_data().unwrap())
}

/// The next event, without comments.
async fn event(stream: &mut Response<Body>) -> Option<String> {
    loop {
        let text = String::from_utf8(next(stream).await?.to_vec()).unwrap();
        if text.starts_with("event: ") {
            return Some(text);
        }
    }
}

/// X9: an open page is told of changes, and the stream has no data of the desk.
#[tokio::test]
async fn open_page_is_told_of_changes() {
    let (app, browser) = signed_in().await;
    let mut stream = listen(&app, &browser).await;
    assert_eq!(stream.status(), 200);
    assert_eq!(header(stream.headers(), "content-type"), "text/event-stream");
    assert_eq!(header(stream.headers(), "cache-control"), "no-store");
    let token = bearer(&app, ALL_SCOPES).await;
    assert_eq!(
        event(&mut stream).await.unwrap(),
        "event: changed\ndata: requests\n\n"
    );
    let path = charge(&app, &token, 4_900).await;
    let told = event(&mut stream).await.unwrap();
    assert_eq!(told, "event: changed\ndata: charges deliveries requests\n\n");
    let refunds = format!("{path}/refunds");
    crate::desk::call(&app, &token, ("POST", &refunds), &[], "{}").await;
    let booked = async { while !event(&mut stream).await.unwrap().contains("charges") {} };
    working(&app, booked).await;
}

/// X9: the stream ends with its session, also without a change, and when the service drains.
#[tokio::test]
async fn stream_ends_with_session_and_service() {
    let (app, mut browser) = signed_in().await;
    let mut changed = listen(&app, &browser).await;
    let mut idle = listen(&app, &browser).await;
    browser.post("/account/sign-out", &[]).await;
    assert!(!browser.is_signed_in().await);
    assert_eq!(event(&mut changed).await, None);
    assert_eq!(event(&mut idle).await, None);
    browser.sign_in().await;
    let mut open = listen(&app, &browser).await;
    assert!(next(&mut open).await.is_some());
    app.close();
    assert_eq!(event(&mut open).await, None);
    assert_eq!(
        listen(&app, &browser).await.body_mut().frame().await.map(drop),
        None
    );
}

/// X9: reads that an open page makes by itself do not keep an idle session alive; those of its user
/// do.
#[tokio::test]
async fn live_reads_do_not_prolong_the_session() {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    let clock = DemoClock::new();
    config.clock = clock.clone();
    let app = Arc::new(App::open(config).await.unwrap());
    for (marker, expected) in [(None, 200), (Some(("x-live-read", "1")), 303)] {
        let mut browser = Browser::new(&app);
        browser.sign_in().await;
        let cookie = browser.jar();
        let mut headers = vec![("cookie", cookie.as_str()), ("accept", "text/html")];
        headers.extend(marker);
        for _ in 0..2 {
            clock.advance(Duration::from_secs(14 * 60));
            let page = ask(&app, request("GET", "/console/charges", &headers, "")).await;
            assert_eq!(page.status(), 200, "{marker:?}");
            drop(listen(&app, &browser).await);
        }
        clock.advance(Duration::from_secs(2 * 60));
        let page = ask(&app, request("GET", "/console/charges", &headers, "")).await;
        assert_eq!(page.status(), expected, "{marker:?}");
    }
}

/// X9: a stream needs a session and a page of the console; a user has at most twelve.
#[tokio::test]
async fn streams_are_refused_to_others_and_bounded() {
    let (app, browser) = signed_in().await;
    let stranger = listen(&app, &Browser::new(&app)).await;
    assert_eq!(stranger.status(), 403);
    let cookie = browser
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join("; ");
    for site in ["cross-site", "same-site", "none"] {
        let headers = [("cookie", cookie.as_str()), ("sec-fetch-site", site)];
        let refused = ask(&app, request("GET", "/console/live", &headers, "")).await;
        assert_eq!(refused.status(), 403, "{site}");
    }
    for method in ["HEAD", "POST"] {
        let refused = ask(&app, request(method, "/console/live", &[("cookie", &cookie)], "")).await;
        assert_eq!(refused.status(), 405, "{method}");
    }
    let mut streams = Vec::new();
    for _ in 0..12 {
        streams.push(listen(&app, &browser).await);
    }
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let refused = listen(&app, &browser).await;
    assert_eq!(refused.status(), 429);
    assert!(!header(refused.headers(), "retry-after").is_empty());
    streams.pop();
    assert_eq!(listen(&app, &browser).await.status(), 200);
}
