//! Events of the authorization server and of webhook deliveries, for the log and the metrics.

use std::sync::Arc;

use oauth_core::server::AuthEvent;
use serde_json::Value;
use tracing::{info, warn};
use webhook_core::sender::{AttemptOutcome, DeliveryEvent, DeliveryMetrics, Disposition};

use super::metrics::Metrics;
use crate::desk::Desk;

/// Logs an event of the authorization server or of a session. Subjects and tokens are hashes.
pub(super) fn log_auth_event(event: &AuthEvent) {
    let members = serde_json::to_value(event).unwrap_or_default();
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    info!(
        target: "service::auth",
        kind = event.kind.code(),
        reason = text("reason"),
        grant_type = text("grant_type"),
        revocation = text("revocation"),
        client_id = text("client_id"),
        subject = text("subject"),
        session = text("session"),
        family = text("family"),
        token = text("token"),
        request_id = event.request_id.as_deref(),
        address = event.address.map(display),
        "authorization event",
    );
}

/// Logs and counts the events of the dispatcher.
pub(super) struct DeliveryObserver {
    pub(super) metrics: Arc<Metrics>,
    pub(super) desk: Desk,
}

impl DeliveryMetrics for DeliveryObserver {
    fn record(&self, event: &DeliveryEvent<'_>) {
        match event {
            DeliveryEvent::Attempted {
                delivery,
                outcome,
                duration,
                trace,
            } => {
                self.metrics.record_attempt(class(outcome), *duration);
                info!(
                    target: "service::webhook",
                    event = delivery.event.as_str(),
                    endpoint = delivery.endpoint.as_str(),
                    trace_id = trace.map(|trace| display(trace.trace_id())),
                    outcome = class(outcome),
                    status = status(outcome),
                    milliseconds = duration.as_secs_f64() * 1e3,
                    "webhook attempt",
                );
            }
            DeliveryEvent::Settled {
                delivery,
                disposition,
                ..
            } => {
                self.metrics.record_settlement(next_step(*disposition));
                info!(
                    target: "service::webhook",
                    event = delivery.event.as_str(),
                    endpoint = delivery.endpoint.as_str(),
                    outcome = next_step(*disposition),
                    "webhook settled",
                );
            }
            DeliveryEvent::SetAside { delivery, reason } => {
                self.metrics.record_settlement("set_aside");
                warn!(
                    target: "service::webhook",
                    event = delivery.event.as_str(),
                    endpoint = delivery.endpoint.as_str(),
                    reason = display(reason),
                    "webhook set aside",
                );
            }
            DeliveryEvent::Freed { instance, leases } => {
                warn!(
                    target: "service::webhook",
                    instance = display(instance),
                    leases,
                    "leases of a dead process freed",
                );
                // it may have committed a change and not published it
                self.desk.announce_loss();
            }
            _ => {}
        }
    }
}

/// Label of an outcome: the class of the status, or the kind of the failure.
fn class(outcome: &AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Answered { status, .. } => match status.as_u16() {
            200..=299 => "2xx",
            300..=399 => "3xx",
            400..=499 => "4xx",
            500..=599 => "5xx",
            _ => "other",
        },
        AttemptOutcome::Failed(kind) => kind.as_str(),
    }
}

fn status(outcome: &AttemptOutcome) -> Option<u16> {
    match outcome {
        AttemptOutcome::Answered { status, .. } => Some(status.as_u16()),
        AttemptOutcome::Failed(_) => None,
    }
}

fn next_step(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Acked => "acked",
        Disposition::Retry { .. } => "retry",
        Disposition::Held { .. } => "held",
        Disposition::Failed(reason) => reason.as_str(),
    }
}
