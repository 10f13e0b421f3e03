//! Operational events: what an operator of the host must know, as values and as webhooks.
//!
//! [`Dispatcher::with_operational_events`](super::Dispatcher::with_operational_events) sends them
//! to the endpoints of the [operator](super::Owner::Operator).

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{Audience, ClockSkew, EndpointId, StoredEvent};
use crate::event::{Envelope, EventId, InvalidEnvelope, Timestamp};

/// Change that an operator must know.
///
/// | type | `data.object` |
/// |---|---|
/// | `endpoint.failing` | `endpoint`, `retry_at`: Unix seconds of the next probe |
/// | `endpoint.recovered` | `endpoint` |
/// | `endpoint.disabled` | `endpoint` |
/// | `endpoint.secret_rotated` | `endpoint` |
/// | `clock.skewed` | `offset_seconds`: how far the local clock is ahead; negative if it is behind |
///
/// `endpoint` is the id. The version is `1`. No event contains a secret or a body.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OperationalEvent {
    /// The circuit breaker of the endpoint opened.
    EndpointFailing {
        /// Endpoint that fails.
        endpoint: EndpointId,
        /// Time of the next probe.
        retry_at: SystemTime,
    },
    /// The circuit breaker of the endpoint closed: it responds again.
    EndpointRecovered {
        /// Endpoint that responds.
        endpoint: EndpointId,
    },
    /// The endpoint was disabled, after a 410 or five days of failures.
    EndpointDisabled {
        /// Endpoint that was disabled.
        endpoint: EndpointId,
    },
    /// The secret of the endpoint was rotated. The host reports it with
    /// [`Dispatcher::announce`](super::Dispatcher::announce).
    SecretRotated {
        /// Endpoint whose secret is new.
        endpoint: EndpointId,
    },
    /// Receivers prove that the local clock is wrong.
    ClockSkewed {
        /// Error of the local clock.
        skew: ClockSkew,
    },
}

impl OperationalEvent {
    /// Type of the event, such as `endpoint.failing`.
    #[must_use]
    pub const fn event_type(&self) -> &'static str {
        match self {
            Self::EndpointFailing { .. } => "endpoint.failing",
            Self::EndpointRecovered { .. } => "endpoint.recovered",
            Self::EndpointDisabled { .. } => "endpoint.disabled",
            Self::SecretRotated { .. } => "endpoint.secret_rotated",
            Self::ClockSkewed { .. } => "clock.skewed",
        }
    }

    /// Writes the event for the endpoints of the operator.
    ///
    /// # Errors
    ///
    /// [`InvalidEnvelope`] never occurs for these events. The method returns it instead of a panic.
    pub fn to_event(&self, id: EventId, now: SystemTime) -> Result<StoredEvent, InvalidEnvelope> {
        let invalid = |_| InvalidEnvelope::new();
        let event_type = self.event_type().parse().map_err(invalid)?;
        let version = "1".parse().map_err(|_| InvalidEnvelope::new())?;
        let object = self.object().to_string();
        let envelope = Envelope::new(id, event_type, version, now, object.as_bytes())?;
        Ok(StoredEvent::new(envelope, Audience::operator()))
    }

    fn object(&self) -> Value {
        match self {
            Self::EndpointFailing { endpoint, retry_at } => json!({
                "endpoint": endpoint.as_str(),
                "retry_at": Timestamp::from(*retry_at).as_seconds(),
            }),
            Self::EndpointRecovered { endpoint }
            | Self::EndpointDisabled { endpoint }
            | Self::SecretRotated { endpoint } => json!({ "endpoint": endpoint.as_str() }),
            Self::ClockSkewed { skew } => json!({ "offset_seconds": skew.seconds() }),
        }
    }
}
