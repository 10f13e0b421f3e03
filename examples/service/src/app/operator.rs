//! Routes for the operator: `/healthz`, `/readyz` and `/metrics`.
//!
//! They are for the operator's network: without CORS, rate limits and the request log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use host_server::OpenConnections;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_conventions::caching::CacheControl;
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::pipeline::Conventions;
use http_conventions::ports::OsEntropy;
use serde_json::json;
use tracing::warn;

use super::metrics::{Backlog, Metrics};
use super::open::{OpenError, at};
use super::{App, Handled, body, problem};
use crate::clock::DemoClock;
use crate::desk::DeskError;

/// Time limit for each store that `/readyz` asks.
const PATIENCE: Duration = Duration::from_secs(1);
const METHODS: &[Method] = &[Method::GET, Method::HEAD];
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// State of the operator's routes.
pub(super) struct Operator {
    pub(super) metrics: Arc<Metrics>,
    conventions: Conventions,
    /// The routes are also served by [`App::handle`].
    is_beside_app: bool,
    is_stopping: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
enum OperatorRoute {
    Health,
    Readiness,
    Metrics,
}

impl OperatorRoute {
    fn of(path: &str) -> Option<Self> {
        match path {
            "/healthz" => Some(Self::Health),
            "/readyz" => Some(Self::Readiness),
            "/metrics" => Some(Self::Metrics),
            _ => None,
        }
    }
}

impl Operator {
    /// Creates the routes. With `is_beside_app` they are served beside the app's own routes.
    pub(super) fn new(base_url: &str, clock: &DemoClock, is_beside_app: bool) -> Result<Self, OpenError> {
        let problems = format!("{base_url}/problems/");
        let conventions = Conventions::builder(&problems, Arc::new(clock.clone()), Arc::new(OsEntropy));
        let conventions = conventions.with_problem_types(problem::OWN).build();
        Ok(Self {
            metrics: Arc::new(Metrics::new()),
            conventions: conventions.map_err(at("the operator's routes"))?,
            is_beside_app,
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Returns `true` if [`App::handle`] serves this path as one of the operator's.
    pub(super) fn takes(&self, path: &str) -> bool {
        self.is_beside_app && OperatorRoute::of(path).is_some()
    }
}

impl App {
    /// Handles a request of the operator's network: `/healthz`, `/readyz` or `/metrics`.
    ///
    /// - `/healthz`: 200 as long as the process handles requests.
    /// - `/readyz`: 200 if the stores respond within 1 s. Otherwise, and after
    ///   [`stop`](Self::stop), 503 with a problem that names the failing parts.
    /// - `/metrics`: the metrics as text (OpenMetrics 1.0).
    ///
    /// No response is stored by caches or readable by pages of other origins.
    pub async fn handle_operator(&self, request: Request<Bytes>) -> Response<Bytes> {
        let exchange = match self.operator.conventions.begin(&request).admit(&request) {
            Ok(exchange) => exchange,
            Err(early) => return early.into_response(),
        };
        let handled = match OperatorRoute::of(request.uri().path()) {
            None => Err(Problem::new(ErrorStatus::NOT_FOUND)),
            Some(_) if !METHODS.contains(request.method()) => Err(Problem::method_not_allowed(METHODS)),
            Some(OperatorRoute::Health) => Ok(body::json(StatusCode::OK, &json!({"status": "alive"}))),
            Some(OperatorRoute::Readiness) => self.readiness().await,
            Some(OperatorRoute::Metrics) => Ok(self.metrics_page().await),
        };
        let mut response = exchange.finish(handled);
        CacheControl::private_no_store().apply(response.headers_mut());
        response
    }

    /// Returns the response to a request that the operator's server itself refuses.
    #[must_use]
    pub fn refuse_operator(&self, head: &Request<()>, status: StatusCode) -> Response<Bytes> {
        self.operator.conventions.refuse(head, status).into_response()
    }

    /// Count of the open connections, which `/metrics` shows. It is for the
    /// [`Limits`](host_server::Limits) of each server of the app.
    #[must_use]
    pub fn open_connections(&self) -> OpenConnections {
        self.operator.metrics.open_connections()
    }

    /// Makes `/readyz` respond 503, so that balancers send no new requests. Requests are still
    /// handled.
    pub fn stop(&self) {
        self.operator.is_stopping.store(true, Ordering::SeqCst);
    }

    async fn readiness(&self) -> Handled {
        let is_stopping = self.operator.is_stopping.load(Ordering::SeqCst);
        let (database, redis) = tokio::join!(in_time(self.stores.desk.check()), in_time(self.ping_redis()));
        let parts = [
            ("service", !is_stopping),
            ("database", database),
            ("redis", redis),
        ];
        let failing = parts.into_iter().filter(|(_, is_ready)| !is_ready);
        let failing: Vec<&'static str> = failing.map(|(part, _)| part).collect();
        match failing.is_empty() {
            true => Ok(body::json(StatusCode::OK, &json!({"status": "ready"}))),
            false => Err(problem::not_ready(failing)),
        }
    }

    async fn ping_redis(&self) -> Result<(), host_store_redis::DatabaseError> {
        match &self.redis {
            Some(redis) => redis.ping().await,
            None => Ok(()),
        }
    }

    async fn metrics_page(&self) -> Response<Bytes> {
        let backlog = tokio::time::timeout(PATIENCE, self.backlog()).await;
        let backlog = backlog.ok().and_then(Result::ok);
        let mut response = Response::new(self.operator.metrics.render(backlog).into());
        response.headers_mut().insert(CONTENT_TYPE, METRICS_TYPE);
        response
    }

    async fn backlog(&self) -> Result<Backlog, DeskError> {
        let now = self.clock.now();
        let due = self.stores.desk.backlog(now).await?;
        let age = due.oldest.and_then(|oldest| now.duration_since(oldest).ok());
        Ok(Backlog {
            deliveries: due.deliveries,
            age: age.unwrap_or_default(),
        })
    }
}

/// Returns `true` if the part responds in time. Its error is logged, not sent: it may name a host.
async fn in_time<E: std::error::Error>(answer: impl Future<Output = Result<(), E>>) -> bool {
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            warn!(error = program::in_one_line(&error), "a store is not ready");
            false
        }
        Err(_elapsed) => {
            warn!("a store does not respond within 1 s");
            false
        }
    }
}
