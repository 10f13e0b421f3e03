//! Discovery of a server: the URLs of its metadata, and unusable responses.

use std::error::Error as _;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Request, Response};
use oauth_core::client::{Discovery, DiscoveryError, MetadataError, Provider, WellKnown};
use oauth_core::ports::{TransportError, transport_fn};

use super::*;

const OPENID: &str = "https://as.example/.well-known/openid-configuration";
const OAUTH: &str = "https://as.example/.well-known/oauth-authorization-server";

/// A response: status (0 for none), content type and body.
#[derive(Clone)]
struct StubResponse(u16, &'static str, String);

fn document() -> StubResponse {
    StubResponse(200, "application/json", least().to_string())
}

fn status(status: u16) -> StubResponse {
    StubResponse(status, "application/json", least().to_string())
}

/// Discovers `issuer` with these responses in order; also returns the requested URLs.
fn discover(issuer: &str, answers: &[StubResponse]) -> (Result<Provider, DiscoveryError>, Vec<String>) {
    let (answers, asked) = (
        Mutex::new(answers.iter().cloned()),
        Arc::new(Mutex::new(Vec::new())),
    );
    let log = Arc::clone(&asked);
    let transport = transport_fn(move |request: Request<Bytes>| {
        assert_eq!((request.method().as_str(), request.body().len()), ("GET", 0));
        assert_eq!(request.headers()["accept"], "application/json");
        assert_eq!(request.headers().len(), 1);
        log.lock().unwrap().push(request.uri().to_string());
        let StubResponse(status, content_type, body) = answers.lock().unwrap().next().unwrap();
        async move {
            if status == 0 {
                return Err(TransportError::other("the cable is out"));
            }
            let response = Response::builder()
                .status(status)
                .header("content-type", content_type);
            let response = response.header("location", "https://evil.example/metadata");
            Ok(response.body(Bytes::from(body)).unwrap())
        }
    });
    let provider = Provider::discover(&issuer.parse().unwrap(), &transport).now_or_never();
    let asked = asked.lock().unwrap().clone();
    (provider.unwrap(), asked)
}

/// O22, 94: the document of OpenID Connect is requested first, that of RFC 8414 after a 404.
#[test]
fn server_is_discovered_by_its_issuer() {
    let (provider, asked) = discover("https://as.example", &[document()]);
    assert_eq!(
        provider.unwrap(),
        Provider::from_metadata(&issuer(), least().to_string().as_bytes()).unwrap()
    );
    assert_eq!(asked, [OPENID]);
    let (provider, asked) = discover("https://as.example", &[status(404), document()]);
    assert!(provider.is_ok());
    assert_eq!(asked, [OPENID, OAUTH]);
    let (provider, asked) = discover("https://as.example", &[status(404), status(404)]);
    assert!(matches!(provider, Err(DiscoveryError::NotFound)));
    assert_eq!(asked.len(), 2);
}

/// O22: OpenID Connect puts the well-known part behind the path of the issuer, RFC 8414 before it,
/// without the final slash.
#[test]
fn issuer_with_path_is_discovered_at_both_urls() {
    for (issuer, openid, oauth) in [
        ("https://as.example", OPENID, OAUTH),
        ("https://as.example/", OPENID, OAUTH),
        (
            "https://as.example:8443/a/b",
            "https://as.example:8443/a/b/.well-known/openid-configuration",
            "https://as.example:8443/.well-known/oauth-authorization-server/a/b",
        ),
        (
            "https://as.example/a/",
            "https://as.example/a/.well-known/openid-configuration",
            "https://as.example/.well-known/oauth-authorization-server/a",
        ),
    ] {
        let discovery = Discovery::new(issuer.parse().unwrap());
        let asked = WellKnown::ALL.map(|document| discovery.request(document).uri().to_string());
        assert_eq!(asked, [openid, oauth], "{issuer}");
    }
    // the document of the host is not that of its tenant
    let (provider, _) = discover("https://as.example/tenant", &[document()]);
    assert!(matches!(
        provider,
        Err(DiscoveryError::Unusable(MetadataError::WrongIssuer))
    ));
}

/// O22, 94: redirects are not followed, only a 404 leads to the second document, and a refused
/// document is final.
#[test]
fn only_404_leads_to_second_document() {
    for code in [
        100, 201, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 405, 406, 410, 429, 500, 503,
    ] {
        let (provider, asked) = discover("https://as.example", &[status(code)]);
        assert!(
            matches!(provider, Err(DiscoveryError::UnexpectedStatus(status)) if status == code),
            "{code}"
        );
        assert_eq!(asked, [OPENID]);
    }
    let (provider, asked) = discover("https://as.example", &[status(0)]);
    let error = provider.unwrap_err();
    assert!(matches!(error, DiscoveryError::Unreachable(_)));
    assert!(error.source().is_some());
    assert_eq!(asked, [OPENID]);
    for (body, expected) in [
        ("{}".to_owned(), MetadataError::Malformed),
        (
            with("issuer", json!("https://evil.example")).to_string(),
            MetadataError::WrongIssuer,
        ),
        (
            with("code_challenge_methods_supported", Value::Null).to_string(),
            MetadataError::NoS256,
        ),
        (
            format!("{}{}", least(), " ".repeat(64 * 1024)),
            MetadataError::TooLong,
        ),
    ] {
        let (provider, asked) = discover(
            "https://as.example",
            &[StubResponse(200, "application/json", body)],
        );
        assert!(matches!(provider, Err(DiscoveryError::Unusable(error)) if error == expected));
        assert_eq!(asked, [OPENID]);
    }
    let (provider, asked) = discover("https://as.example", &[status(404), status(302)]);
    assert!(matches!(provider, Err(DiscoveryError::UnexpectedStatus(_))));
    assert_eq!(asked.len(), 2);
}

/// O22, 94: a document of another content type is refused, because users of the host may have
/// written it.
#[test]
fn other_content_type_is_no_metadata() {
    for content_type in [
        "text/html",
        "text/plain",
        "application/jsonp",
        "application/json+x",
        "json",
        "",
        "image/png",
    ] {
        let answer = StubResponse(200, content_type, least().to_string());
        let (provider, _) = discover("https://as.example", &[answer]);
        assert!(
            matches!(provider, Err(DiscoveryError::UnexpectedContent)),
            "{content_type}"
        );
    }
    for content_type in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json ;x=y",
    ] {
        let answer = StubResponse(200, content_type, least().to_string());
        assert!(
            discover("https://as.example", &[answer]).0.is_ok(),
            "{content_type}"
        );
    }
}

/// O31: an API needs only the issuer and the URL of its keys.
#[test]
fn keys_need_only_issuer_and_jwks_uri() {
    let keys = |document: Value| {
        let document = document.to_string();
        let transport = transport_fn(move |_: Request<Bytes>| {
            let response = Response::builder().header("content-type", "application/json");
            let response = response.body(Bytes::from(document.clone())).unwrap();
            async move { Ok(response) }
        });
        let found = Discovery::new(issuer()).keys(transport).now_or_never().unwrap();
        found.map(drop).map_err(|error| match error {
            DiscoveryError::Unusable(error) => error,
            error => panic!("{error}"),
        })
    };
    let uri = "https://as.example/keys";
    assert_eq!(
        keys(json!({ "issuer": "https://as.example", "jwks_uri": uri })),
        Ok(())
    );
    let with_uri = |issuer: &str, uri: &str| keys(json!({ "issuer": issuer, "jwks_uri": uri }));
    assert_eq!(
        with_uri("https://other.example", uri),
        Err(MetadataError::WrongIssuer)
    );
    for wrong in ["http://as.example/keys", "https://10.0.0.1/keys"] {
        let refused = Err(MetadataError::InvalidEndpoint("jwks_uri"));
        assert_eq!(with_uri("https://as.example", wrong), refused);
    }
    assert_eq!(keys(least()), Err(MetadataError::NoKeys));
    assert_eq!(keys(json!([])), Err(MetadataError::Malformed));
}
