//! Digests of the content of requests and responses.

use http_conventions::content::{CONTENT_DIGEST, DigestAlgorithm, Digests};

use crate::desk::{ALL_SCOPES, ask, bearer, call, charge, charges, header, json, open, request};

const WANT: (&str, &str) = ("want-content-digest", "sha-256=1");
const CHARGE: &str = r#"{"amount":100,"currency":"eur"}"#;

/// H33: damaged content is refused, and claims no key.
#[tokio::test]
async fn damaged_content_is_refused() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let digest = Digests::of(CHARGE.as_bytes(), DigestAlgorithm::Sha256).header_value();
    let digest = digest.to_str().unwrap();
    let fields = [("content-digest", digest), ("idempotency-key", "order-1")];
    let create = ("POST", "/v1/charges");
    let damaged = CHARGE.replace("100", "900");
    let refused = call(&app, &token, create, &fields, &damaged).await;
    assert_eq!(refused.status(), 400, "{refused:?}");
    let kind = json(&refused).get("type").unwrap().to_string();
    assert!(kind.ends_with("/problems/content-digest-mismatch\""), "{kind}");
    assert_eq!(charges(&app, &token).await, 0);
    let created = call(&app, &token, create, &fields, CHARGE).await;
    assert_eq!(created.status(), 201, "{created:?}");
}

/// H33, H30: the digest that a client asks for is that of the content as it is sent.
#[tokio::test]
async fn wanted_digest_is_that_of_the_sent_content() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let path = charge(&app, &token, 100).await;
    let read = call(&app, &token, ("GET", &path), &[WANT], "").await;
    let packed = [WANT, ("accept-encoding", "gzip")];
    let style = ask(&app, request("GET", "/assets/desk.css", &packed, "")).await;
    assert_eq!(header(style.headers(), "content-encoding"), "gzip");
    for response in [read, style] {
        let digests = Digests::parse(response.headers(), &CONTENT_DIGEST)
            .unwrap()
            .unwrap();
        assert!(digests.match_content(response.body()));
    }
    let read = call(&app, &token, ("GET", &path), &[], "").await;
    assert_eq!(header(read.headers(), "content-digest"), "");
}
