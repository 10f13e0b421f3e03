//! Deliveries and their attempts.

use std::sync::Arc;
use std::time::Duration;

use host_store_sqlite::Database;
use service::app::{App, Config};
use service::clock::DemoClock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::browser::{Browser, text};
use crate::desk::{ALL_SCOPES, BASE, bearer, call, charge};
use crate::refunds::working;

/// Reads one webhook and sends `answer`; returns its head.
async fn receive(listener: &TcpListener, answer: &str) -> String {
    let (mut peer, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        assert_ne!(peer.read_buf(&mut head).await.unwrap(), 0);
    }
    peer.write_all(answer.as_bytes()).await.unwrap();
    String::from_utf8_lossy(&head).into_owned()
}

/// Checks that the page shows the requests, and not their signatures.
fn shows_heads(page: &str, heads: [String; 2]) {
    for head in heads {
        let field = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(known, _)| *known == name).unwrap().1.to_owned()
        };
        for shown in [field("webhook-timestamp"), field("webhook-id")] {
            assert!(page.contains(&shown), "{shown}: {page}");
        }
        assert!(!page.contains(&field("webhook-signature")), "{page}");
    }
}

/// X9: a delivery shows request, answer and time of each attempt without its signature, and its
/// endpoint the attempts of each hour.
#[tokio::test]
async fn attempts_show_request_answer_and_time() {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    let clock = DemoClock::new();
    config.clock = clock.clone();
    config.danger_deliver_to_loopback = true;
    let app = Arc::new(App::open(config).await.unwrap());
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let body = format!(r#"{{"url":"{url}"}}"#);
    call(&app, &token, ("POST", "/v1/webhook-endpoints"), &[], &body).await;
    charge(&app, &token, 500).await;

    let busy = "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 19\r\n\r\nupstream restarting";
    let mut progress = app.progress();
    let heads = async {
        let first = receive(&listener, busy).await;
        // also while it is being sent, the page names no time after the life of the delivery
        let list = text(&browser.get("/console/deliveries").await);
        assert!(!list.contains(" d "), "{list}");
        progress.changed().await.unwrap();
        clock.advance(Duration::from_secs(24 * 3_600));
        let second = receive(&listener, "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await;
        progress.changed().await.unwrap();
        [first, second]
    };
    let heads = tokio::time::timeout(Duration::from_secs(20), working(&app, heads)).await;
    // the session of before has expired
    browser.sign_in().await;
    let list = text(&browser.get("/console/deliveries").await);
    let path = super::link(&list, ">charge.created");
    let page = text(&browser.get(&path).await);
    for part in [
        "Attempt 2",
        "Attempt 1",
        "upstream restarting",
        "503 Service Unavailable",
        "204 No Content",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches(&format!("POST {url}")).count(), 2, "{page}");
    shows_heads(&page, heads.unwrap());
    assert!(page.contains("% of the longest attempt"), "{page}");

    let endpoint = text(
        &browser
            .get(&super::link(
                &page,
                &format!(">{}<", listener.local_addr().unwrap()),
            ))
            .await,
    );
    assert!(
        endpoint.contains("Attempts in each of the last 24 hours: 1 acknowledged, 0 failed."),
        "{endpoint}"
    );
    assert!(
        endpoint.contains("class=\"c-ok\" d=\"M231 100V50h8V100z\""),
        "{endpoint}"
    );
}
