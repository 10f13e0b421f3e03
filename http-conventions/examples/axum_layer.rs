//! HTTP conventions for all routes of an axum service: problem documents, request ids, CORS, a rate
//! limit by address, and pages with signed cursors.
//!
//! ```sh
//! cargo run -p http-conventions --example axum_layer -- 127.0.0.1:8080
//! curl -i 'http://127.0.0.1:8080/charges?limit=3'
//! ```
//!
//! Follow the `Link` of the response to the next page. `/charges?limit=0` and `/nowhere` show
//! problem documents. An address has 100 requests a minute.
#![expect(clippy::print_stdout, reason = "the example logs")]

use std::net::SocketAddr;
use std::{env, error::Error, sync::Arc, time::Duration};

use axum::extract::{ConnectInfo, OriginalUri, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::{Json, Router, body::Body, response::IntoResponse, response::Response, routing::get};
use host_adapter_axum::{Admission, ConventionsLayer, Refusal};
use http_conventions::limits::{MemoryRateLimitStore, OnStoreFailure, client_network};
use http_conventions::paging::{CursorBinding, CursorKey, CursorKeyring, PageRules};
use http_conventions::ports::{Entropy as _, OsEntropy, SystemClock};
use http_conventions::{Conventions, CorsRules, ErrorStatus, Policy, Problem, Quota, RateLimiter};
use serde_json::json;
use tokio::net::TcpListener;

struct Service {
    by_address: Policy,
    cursors: CursorKeyring,
}

/// Lists the charges `1` to `100`, page by page.
async fn list(
    State(service): State<Arc<Service>>,
    Admission(exchange): Admission,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Refusal> {
    let conventions = exchange.conventions();
    let rules = conventions.page_rules().unwrap_or_default();
    // a service also binds the cursor to the caller that it authenticated
    let binding = CursorBinding::new(uri.path(), "");
    let asked = service
        .cursors
        .open_page::<i64>(rules, uri.query(), binding, conventions.now());
    let asked = asked.map_err(|error| error.problem(conventions.problems()))?;
    // one row more than the page has, as `LIMIT` of a database
    let first = asked.after().map_or(1, |last| last + 1);
    let rows = (first..=100).take(asked.limit().fetch()).collect();
    let page = asked.page(rows, |charge| *charge);
    let page = page.map_err(|_too_long| Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))?;
    let links = page.links(uri.path(), uri.query()).map_err(Problem::from)?;
    let mut response = Json(page.map(|charge| json!({ "id": format!("ch_{charge}") }))).into_response();
    links.apply(response.headers_mut());
    Ok(response)
}

/// Counts each request against the quota of its address, before its handler runs.
async fn limit_by_address(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Admission(exchange): Admission,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let address = client_network(peer.ip()).to_string();
    let exchange = exchange.limit(&[service.by_address.spend(&address)]).await?;
    let response = next.run(request).await;
    Ok(exchange.finish_as(Ok(response), Body::from))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("missing argument: address")?;
    let mut secret = [0; 32];
    OsEntropy.fill(&mut secret);
    let service = Arc::new(Service {
        by_address: Policy::new("address", Quota::per(100, Duration::from_secs(60))?)?,
        cursors: CursorKeyring::new(CursorKey::new(1, secret)),
    });
    let store = MemoryRateLimitStore::default();
    let limiter = RateLimiter::new(store, SystemClock, OnStoreFailure::FailOpen);
    let conventions = Conventions::builder("https://api.example/problems/", SystemClock, OsEntropy)
        .with_cors(CorsRules::origins(["https://app.example"]))
        .with_page_rules(PageRules::new(20, 100)?)
        .with_rate_limiter(limiter)
        .build()?;
    let router = Router::new()
        .route("/charges", get(list))
        .layer(from_fn_with_state(Arc::clone(&service), limit_by_address))
        // last, so that it is around all routes and layers
        .layer(ConventionsLayer::new(conventions))
        .with_state(service)
        .into_make_service_with_connect_info::<SocketAddr>();
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
