//! Compression: public documents, and nothing with secrets.

use crate::browser::HTML;
use crate::desk::{ALL_SCOPES, FORM, SERVICE, ask, bearer, call, charge, header, json, open, request};

const GZIP: (&str, &str) = ("accept-encoding", "gzip, br");

/// H30, H8: public documents are compressed; the tag of a coding is revalidated.
#[tokio::test]
async fn public_documents_are_compressed() {
    let app = open().await;
    for path in [
        "/openapi.json",
        "/assets/desk.css",
        "/assets/console.js",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
    ] {
        let plain = ask(&app, request("GET", path, &[], "")).await;
        assert_eq!(plain.status(), 200, "{path}");
        assert_eq!(header(plain.headers(), "content-encoding"), "", "{path}");
        assert!(
            header(plain.headers(), "vary")
                .to_lowercase()
                .contains("accept-encoding"),
            "{path}"
        );
        let packed = ask(&app, request("GET", path, &[GZIP], "")).await;
        assert_eq!(header(packed.headers(), "content-encoding"), "gzip", "{path}");
        assert!(packed.body().starts_with(&[0x1f, 0x8b]), "{path}");
        assert!(packed.body().len() < plain.body().len() / 2 + 200, "{path}");
        let tag = header(packed.headers(), "etag");
        if !tag.is_empty() {
            assert_ne!(tag, header(plain.headers(), "etag"), "{path}");
            let fields = [GZIP, ("if-none-match", tag)];
            let unchanged = ask(&app, request("GET", path, &fields, "")).await;
            assert_eq!(unchanged.status(), 304, "{path}");
            assert_eq!(header(unchanged.headers(), "etag"), tag);
        }
    }
}

/// H30: a response of the API, of the authorization server, or with a form is not compressed.
#[tokio::test]
async fn responses_with_secrets_are_not_compressed() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let mut path = String::new();
    for amount in 1..=20 {
        path = charge(&app, &token, amount).await;
    }
    for path in ["/v1/charges?limit=100", &path] {
        let read = call(&app, &token, ("GET", path), &[GZIP], "").await;
        assert_eq!(read.status(), 200, "{path}");
        assert_eq!(header(read.headers(), "content-encoding"), "", "{path}");
    }
    let fields = [FORM, GZIP, ("authorization", SERVICE)];
    let issued = ask(
        &app,
        request("POST", "/token", &fields, "grant_type=client_credentials"),
    )
    .await;
    assert!(json(&issued).get("access_token").is_some());
    for path in ["/login?notice=everywhere", "/password/forgotten"] {
        let form = ask(&app, request("GET", path, &[GZIP, HTML], "")).await;
        assert_eq!(header(form.headers(), "content-encoding"), "", "{path}");
    }
}
