//! Webhook events of the desk: `charge.created` and `charge.refunded`, each with the changed
//! charge.

use std::time::SystemTime;

use webhook_core::event::{Envelope, EventId, EventType, EventVersion};
use webhook_core::ports::OsEntropy;
use webhook_core::sender::{Audience, Owner, StoredEvent};

use crate::domain::Charge;
use crate::wire::ChargeBody;

/// Version of the event format. Within a version, members are only added.
const FORMAT: &str = "2026-11-01";

/// Owner of the endpoints that get the events about charges: the desk has one tenant.
#[expect(clippy::expect_used, reason = "the word is a tenant id")]
pub(crate) fn shop() -> Owner {
    Owner::Tenant("shop".parse().expect("visible characters"))
}

/// Kind of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventKind {
    ChargeCreated,
    ChargeRefunded,
}

impl EventKind {
    #[expect(clippy::expect_used, reason = "both words have the grammar of an event type")]
    fn event_type(self) -> EventType {
        match self {
            Self::ChargeCreated => "charge.created",
            Self::ChargeRefunded => "charge.refunded",
        }
        .parse()
        .expect("dotted lower-case words")
    }
}

/// Creates the event about `charge`, for every endpoint that is registered when it is sent.
#[expect(
    clippy::expect_used,
    reason = "a charge always serialises to an object of moderate size"
)]
pub(super) fn event(kind: EventKind, charge: &Charge, now: SystemTime) -> StoredEvent {
    let object = serde_json::to_vec(&ChargeBody::of(charge)).expect("text, numbers and null");
    let version: EventVersion = FORMAT.parse().expect("visible characters");
    let id = EventId::generate(&OsEntropy);
    let envelope = Envelope::new(id, kind.event_type(), version, now, &object).expect("an object");
    StoredEvent::new(envelope, Audience::from(shop()))
}
