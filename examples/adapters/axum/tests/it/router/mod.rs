//! The layer and the extractors in an ordinary router.

mod access_token;
mod certificates;
mod extractors;
mod fixture;
mod graphql;
mod idempotency;
mod nested;
mod runs;
mod webhooks;
mod websockets;

use host_ports::testing::ManualClock;
use http::{Request, Response, header};
use http_body_util::Full;
use http_conventions::errors::ReceivedProblem;
use tower_layer::Layer;
use tower_service::Service;

use axum::body::Body;
use bytes::Bytes;
use fixture::{APP, BASE, CAP, Running, conventions, request, whole};
use host_adapter_axum::ConventionsLayer;

/// Asserts the fields of every response, and on errors a problem with the path of its request.
#[track_caller]
fn assert_complete(answer: &Response<Bytes>, path: &str) {
    let headers = answer.headers();
    let only = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let value = values
            .next()
            .unwrap_or_else(|| panic!("{path}: no {name}: {answer:?}"));
        assert_eq!(values.next(), None, "{path}: {name} twice");
        value.to_str().unwrap()
    };
    let id = only("x-request-id");
    assert_eq!(only("access-control-allow-origin"), APP, "{path}");
    assert_eq!(only("vary"), "origin, x-version", "{path}");
    assert!(only("cache-control").contains("no-store"), "{path}");
    assert!(only("deprecation").starts_with('@'), "{path}");
    assert_eq!(only("link"), "</v2>; rel=\"successor-version\"", "{path}");
    if answer.status().is_client_error() || answer.status().is_server_error() {
        assert_eq!(only("content-type"), "application/problem+json", "{path}");
        let problem = ReceivedProblem::parse(answer.body()).unwrap();
        assert_eq!(problem.status(), Some(answer.status().as_u16()), "{path}");
        assert_eq!(problem.instance(), Some(path));
        assert!(answer.body().escape_ascii().to_string().contains(id), "{path}");
    }
}

/// H5, H13, H18, H22: every response is complete: of the handler, a rejection, 404, 405, a panic.
#[tokio::test]
async fn every_exit_of_a_router_is_complete() {
    let running = Running::new();
    let json = [("content-type", "application/json")];
    for (method, path, fields, body, status) in [
        ("GET", "/", &[][..], "", 200),
        ("GET", "/stream", &[], "", 200),
        ("GET", "/nowhere", &[], "", 404),
        ("DELETE", "/", &[], "", 405),
        ("GET", "/numbers/300", &[], "", 400),
        ("POST", "/json", &[], "{}", 415),
        ("POST", "/json", &json, "{", 400),
        ("GET", "/plain", &[], "", 409),
        ("GET", "/problem", &[], "", 409),
        ("GET", "/panic", &[], "", 500),
        ("POST", "/panic", &[], "", 500),
        ("GET", "/charges", &[], "", 401),
        ("GET", "/page", &[], "", 200),
    ] {
        let answer = running.ask(request(method, path, fields, body)).await;
        assert_eq!(answer.status(), status, "{method} {path}: {answer:?}");
        assert_complete(&answer, path);
    }
}

/// H13: a problem that a handler wrote is completed for any spelling of its type, with its new
/// length.
#[tokio::test]
async fn a_problem_that_a_handler_wrote_is_completed() {
    let running = Running::new();
    let answer = running.ask(request("GET", "/rendered", &[], "")).await;
    let problem = ReceivedProblem::parse(answer.body()).unwrap();
    assert_eq!(problem.instance(), Some("/rendered"));
    let length = answer.headers().get("content-length");
    let length = length.map(|length| length.to_str().unwrap().to_owned());
    assert!(length.is_none_or(|length| length == answer.body().len().to_string()));
}

/// H18: OPTIONS has the `Allow` of the route's 405.
#[tokio::test]
async fn options_says_what_a_route_takes() {
    let running = Running::new();
    let refused = running.ask(request("DELETE", "/charges", &[], "")).await;
    let answer = running.ask(request("OPTIONS", "/charges", &[], "")).await;
    assert_eq!((refused.status().as_u16(), answer.status().as_u16()), (405, 204));
    assert_eq!(answer.headers()["allow"], "GET,HEAD,POST");
    assert_eq!(answer.headers()["allow"], refused.headers()["allow"]);
    assert!(!answer.headers().contains_key("content-type"));
    assert!(answer.body().is_empty());
    assert_complete(&answer, "/charges");
    assert_eq!(
        running
            .ask(request("OPTIONS", "/nowhere", &[], ""))
            .await
            .status(),
        404
    );
}

/// H18: a preflight reaches no handler and needs no credentials.
#[tokio::test]
async fn a_preflight_is_answered_before_the_router() {
    let running = Running::new();
    let asks = [("access-control-request-method", "POST")];
    let answer = running.ask(request("OPTIONS", "/charges", &asks, "")).await;
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.headers()["access-control-allow-origin"], APP);
    assert!(
        answer.headers()["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("x-version")
    );
    assert!(answer.headers().contains_key("x-request-id"));
}

/// H2: HEAD has the fields of GET, also for a problem.
#[tokio::test]
async fn head_has_the_fields_of_get() {
    let running = Running::new();
    for path in ["/", "/nowhere", "/plain", "/problem", "/panic", "/charges"] {
        let id = [("x-request-id", "checkout-7f3a")];
        let get = running.ask(request("GET", path, &id, "")).await;
        let head = running.ask(request("HEAD", path, &id, "")).await;
        assert_eq!(head.status(), get.status(), "{path}");
        assert_eq!(head.headers(), get.headers(), "{path}");
        // the server cuts off the content of a fallback
        assert!(head.body().is_empty() || path == "/nowhere", "{path}");
        assert!(!get.body().is_empty(), "{path}");
    }
}

/// H19: content over the limit is 413: before the handler if its length is declared, otherwise
/// where it is read, also by extractors of axum.
#[tokio::test]
async fn content_over_the_limit_is_413() {
    let running = Running::new();
    for path in ["/json", "/bytes", "/whole"] {
        for (size, is_declared, status) in [
            (CAP, true, 200),
            (CAP, false, 200),
            (CAP + 1, true, 413),
            (CAP + 1, false, 413),
        ] {
            let content = format!("\"{}\"", "x".repeat(size - 2));
            let length = content.len().to_string();
            let fields = [("content-type", "application/json"), ("content-length", &length)];
            let fields = if is_declared { &fields[..] } else { &fields[..1] };
            let answer = running.ask(request("POST", path, fields, content)).await;
            assert_eq!(answer.status(), status, "{path} {size} {is_declared}");
            assert_eq!(answer.headers()["access-control-allow-origin"], APP);
            if status == 413 {
                let problem = ReceivedProblem::parse(answer.body()).unwrap();
                assert_eq!(problem.instance(), Some(path));
            }
        }
    }
    let chunked = running
        .ask(request("POST", "/whole", &[], "x".repeat(CAP + 1)))
        .await;
    let problem = ReceivedProblem::parse(chunked.body()).unwrap();
    assert_eq!(problem.type_uri(), format!("{BASE}content-too-large"));
    let content: serde_json::Value = serde_json::from_slice(chunked.body()).unwrap();
    assert_eq!(content["limit"], CAP);
}

/// X3: a streamed response is not collected.
#[tokio::test]
async fn a_stream_is_not_collected() {
    let mut running = Running::new();
    let answer = running
        .router
        .call(request("GET", "/stream", &[], ""))
        .await
        .unwrap();
    assert!(!answer.headers().contains_key(header::CONTENT_LENGTH));
    assert_eq!(whole(answer).await.body(), "onetwo");
}

/// H22: the layer wraps a service that is not axum's, and passes its error on.
#[tokio::test]
async fn any_tower_service_can_be_within_conventions() {
    #[derive(Clone)]
    struct Other;
    impl<B: Send + 'static> Service<Request<B>> for Other {
        type Response = Response<Full<Bytes>>;
        type Error = std::io::Error;
        type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<B>) -> Self::Future {
            std::future::ready(match request.uri().path() {
                "/gone" => Err(std::io::Error::other("gone")),
                _ => Ok(Response::builder().status(404).body(Full::default()).unwrap()),
            })
        }
    }
    let clock = ManualClock::new(std::time::UNIX_EPOCH);
    let mut service = ConventionsLayer::new(conventions(&clock)).layer(Other);
    let answer = service.call(request("GET", "/x", &[], "")).await.unwrap();
    let answer = whole(answer.map(Body::new)).await;
    assert_eq!(answer.status(), 404);
    assert!(answer.headers().contains_key("x-request-id"));
    assert!(
        ReceivedProblem::parse(answer.body())
            .unwrap()
            .instance()
            .is_some()
    );
    let failed = service.call(request("POST", "/gone", &[], "")).await;
    assert_eq!(failed.unwrap_err().to_string(), "gone");
}
