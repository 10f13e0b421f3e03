//! One handler: bare, in the layers of the peers, in ours, and in ours without a router.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use futures_util::FutureExt as _;
use host_adapter_axum::{Admission, ConventionsLayer};
use http::{HeaderValue, Request, header};
use http_conventions::cors::CorsRules;
use http_conventions::idempotency::KeyScope;
use http_conventions::limits::{
    HeaderProfile, MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter,
};
use http_conventions::pipeline::{Conventions, EarlyResponse};
use http_conventions::ports::{OsEntropy, SystemClock};
use http_conventions::versions::Lifecycle;
use http_conventions::versions::VersionScheme;
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;
use tower_governor::key_extractor::GlobalKeyExtractor;
use tower_http::cors::CorsLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_service::Service;

const APP: &str = "https://app.example.com";
const PATH: &str = "/v1/charges";

/// A measured stack: its name, and a function from request to response.
pub(crate) type Stack = (&'static str, Box<dyn FnMut(Request<Body>) -> Response>);

/// A request as a server makes it: slices of its read buffer.
pub(crate) fn request() -> Request<Body> {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = http::Uri::from_static(PATH);
    for (name, value) in [
        (header::HOST, "api.example.com"),
        (header::ORIGIN, APP),
        (header::ACCEPT, "application/json"),
    ] {
        request
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    request
}

/// All stacks, each after one request.
pub(crate) fn stacks() -> Vec<Stack> {
    let bare = || Router::new().route(PATH, get(async || json()));
    let limited = Router::new()
        .route(PATH, get(limited))
        .with_state(Arc::new(policy()));
    let layer = || ConventionsLayer::new(conventions());
    let mut stacks: Vec<Stack> = vec![
        ("a router", asked(bare())),
        ("with id, cors and limit of tower-http", asked(tower_http(bare()))),
        ("with tower_governor", asked(governed(bare()))),
        ("with all four", asked(governed(tower_http(bare())))),
        ("with ours", asked(bare().layer(layer()))),
        ("with ours, rate limit included", asked(limited.layer(layer()))),
        ("ours without a router, rate limit included", alone()),
    ];
    for (name, stack) in &mut stacks {
        let answer = stack(request());
        assert!(answer.status().is_success(), "{name}: {answer:?}");
    }
    stacks
}

fn asked(mut router: Router) -> Box<dyn FnMut(Request<Body>) -> Response> {
    Box::new(move |request| match router.call(request).now_or_never() {
        Some(Ok::<_, Infallible>(answer)) => answer,
        None => Response::builder()
            .status(500)
            .body(Body::empty())
            .unwrap_or_default(),
    })
}

fn tower_http(router: Router) -> Router {
    router
        .layer(RequestBodyLimitLayer::new(1 << 20))
        .layer(CorsLayer::new().allow_origin([HeaderValue::from_static(APP)]))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
}

/// A limit of 10^9: no request is refused on either side.
fn governed(router: Router) -> Router {
    let config = GovernorConfigBuilder::default()
        .per_nanosecond(1)
        .burst_size(1_000_000_000)
        .key_extractor(GlobalKeyExtractor)
        .use_headers()
        .finish()
        .expect("a quota");
    router.layer(GovernorLayer::new(config))
}

fn conventions() -> Conventions {
    let store = Arc::new(MemoryRateLimitStore::default());
    let limiter = RateLimiter::new(store, Arc::new(SystemClock), OnStoreFailure::FailClosed)
        .with_profile(HeaderProfile::X_UNIX);
    Conventions::builder(
        "https://api.example.com/problems/",
        Arc::new(SystemClock),
        Arc::new(OsEntropy),
    )
    .with_cors(CorsRules::origins([APP]))
    .with_versions(
        VersionScheme::Path,
        [("1".parse().expect("a version"), Lifecycle::default())],
    )
    .with_rate_limiter(limiter)
    .build()
    .expect("conventions")
}

fn policy() -> Policy {
    let quota = Quota::per(1_000_000_000, Duration::from_secs(1)).expect("a quota");
    Policy::new("all", quota).expect("a name")
}

async fn limited(State(policy): State<Arc<Policy>>, Admission(exchange): Admission) -> Response {
    match exchange.limit(&[policy.spend("all")]).await {
        Ok(exchange) => exchange.finish_as(Ok(json()), Body::from),
        Err(early) => early.into_response().map(Body::from),
    }
}

fn alone() -> Box<dyn FnMut(Request<Body>) -> Response> {
    let (conventions, policy) = (conventions(), policy());
    Box::new(move |request| {
        let answer = answered(&conventions, &policy, request.map(|_| Bytes::new())).now_or_never();
        let answer = answer.expect("a memory store does not wait");
        answer
            .unwrap_or_else(EarlyResponse::into_response)
            .map(Body::from)
    })
}

async fn answered(
    conventions: &Conventions,
    policy: &Policy,
    request: Request<Bytes>,
) -> Result<http::Response<Bytes>, EarlyResponse> {
    let exchange = conventions.begin(&request).admit(&request)?;
    let exchange = exchange.limit(&[policy.spend("all")]).await?;
    let handler = async { json().map(|_| Bytes::from_static(b"{}")) };
    Ok(exchange.run(&request, KeyScope::new("all", PATH), handler).await)
}

fn json() -> Response {
    let mut answer = Response::new(Body::from(Bytes::from_static(b"{}")));
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
