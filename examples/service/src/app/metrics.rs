//! Metrics of the service in the text format of Prometheus
//! ([OpenMetrics 1.0](https://prometheus.io/docs/specs/om/open_metrics_spec/)).

use std::time::Duration;

use host_server::OpenConnections;
use http::{Method, StatusCode};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the durations in seconds, those of the conventions of OpenTelemetry.
const SECONDS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];

/// Labels of a request. Each has few values: no path, no id, no method of the client's invention.
#[derive(Clone, Debug, Eq, Hash, PartialEq, EncodeLabelSet)]
struct RequestLabels {
    http_request_method: &'static str,
    http_route: &'static str,
    http_response_status_code: u16,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq, EncodeLabelSet)]
struct PolicyLabel {
    policy: &'static str,
}

type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

/// Webhook deliveries that are due and not settled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backlog {
    /// Number of the deliveries.
    pub(super) deliveries: u64,
    /// Age of the oldest one.
    pub(super) age: Duration,
}

/// Counters of the service, and the registry that writes them.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    requests: Durations<RequestLabels>,
    attempts: Durations<Outcome>,
    settlements: Family<Outcome, Counter>,
    refusals: Family<PolicyLabel, Counter>,
    /// Counted by the servers of the app.
    open: OpenConnections,
    connections: Gauge,
    backlog: Gauge,
    backlog_age: Gauge<f64, std::sync::atomic::AtomicU64>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let durations: fn() -> Histogram = || Histogram::new(SECONDS);
        let mut metrics = Self {
            registry: Registry::default(),
            requests: Family::new_with_constructor(durations),
            attempts: Family::new_with_constructor(durations),
            settlements: Family::default(),
            refusals: Family::default(),
            open: OpenConnections::default(),
            connections: Gauge::default(),
            backlog: Gauge::default(),
            backlog_age: Gauge::default(),
        };
        let registry = &mut metrics.registry;
        registry.register(
            "http_server_request_duration_seconds",
            "Requests: time to the head of the response",
            metrics.requests.clone(),
        );
        registry.register(
            "http_server_open_connections",
            "Connections of clients that are open",
            metrics.connections.clone(),
        );
        registry.register(
            "webhook_attempt_duration_seconds",
            "Attempts of webhook deliveries by class of the answer",
            metrics.attempts.clone(),
        );
        registry.register(
            "webhook_settlements",
            "Settled webhook deliveries by their next step",
            metrics.settlements.clone(),
        );
        registry.register(
            "rate_limit_refusals",
            "Requests that a rate limit refused",
            metrics.refusals.clone(),
        );
        registry.register(
            "webhook_backlog",
            "Webhook deliveries that are due",
            metrics.backlog.clone(),
        );
        registry.register(
            "webhook_backlog_age_seconds",
            "Age of the oldest due webhook delivery",
            metrics.backlog_age.clone(),
        );
        metrics
    }

    /// Count of the open connections, for the limits of a server.
    pub(super) fn open_connections(&self) -> OpenConnections {
        self.open.clone()
    }

    /// Counts a finished request.
    pub(super) fn record_request(
        &self,
        method: &Method,
        route: &'static str,
        status: StatusCode,
        duration: Duration,
    ) {
        let labels = RequestLabels {
            http_request_method: known_method(method),
            http_route: route,
            http_response_status_code: status.as_u16(),
        };
        let requests = self.requests.get_or_create(&labels);
        requests.observe(duration.as_secs_f64());
    }

    /// Counts an attempt of a delivery.
    pub(super) fn record_attempt(&self, outcome: &'static str, duration: Duration) {
        let attempts = self.attempts.get_or_create(&Outcome { outcome });
        attempts.observe(duration.as_secs_f64());
    }

    /// Counts a settled delivery.
    pub(super) fn record_settlement(&self, outcome: &'static str) {
        self.settlements.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts a request that a rate limit refused.
    pub(super) fn record_refusal(&self, policy: &'static str) {
        self.refusals.get_or_create(&PolicyLabel { policy }).inc();
    }

    /// The metrics as text. Without a `backlog`, which could then not be read, its last values
    /// remain.
    pub(super) fn render(&self, backlog: Option<Backlog>) -> String {
        self.connections
            .set(i64::try_from(self.open.count()).unwrap_or(i64::MAX));
        if let Some(Backlog { deliveries, age }) = backlog {
            self.backlog.set(i64::try_from(deliveries).unwrap_or(i64::MAX));
            self.backlog_age.set(age.as_secs_f64());
        }
        let mut text = String::new();
        // writing to a string cannot fail
        let _written = text::encode(&mut text, &self.registry);
        text
    }
}

/// Method as a label. A method of the client's invention is `_OTHER`.
pub(super) fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X8: a client cannot add a time series of its own.
    #[test]
    fn invented_method_has_a_common_label() {
        let metrics = Metrics::new();
        for method in ["AUDIT", "get", "X\u{61}"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            metrics.record_request(&method, "/", StatusCode::METHOD_NOT_ALLOWED, Duration::ZERO);
        }
        let text = metrics.render(None);
        let series = "http_server_request_duration_seconds_count{http_request_method=\"_OTHER\",\
                      http_route=\"/\",http_response_status_code=\"405\"} 3";
        assert!(text.contains(series), "{text}");
        assert!(!text.contains("AUDIT"), "{text}");
    }

    /// X8: a backlog that cannot be read leaves the last known one.
    #[test]
    fn backlog_is_read_at_each_scrape() {
        let metrics = Metrics::new();
        let age = Duration::from_millis(1500);
        let text = metrics.render(Some(Backlog { deliveries: 7, age }));
        for text in [text, metrics.render(None)] {
            assert!(text.contains("\nwebhook_backlog 7\n"), "{text}");
            assert!(text.contains("\nwebhook_backlog_age_seconds 1.5\n"), "{text}");
            assert!(text.ends_with("# EOF\n"), "{text}");
        }
    }
}
