//! Webhook events of the desk: `charge.created` and `charge.refunded`, each with the changed
//! charge.

use std::time::SystemTime;

use host_store_sqlite::outbox;
use host_store_sqlite::rusqlite::Transaction;
use webhook_core::event::{Envelope, EventId, EventType, EventVersion};
use webhook_core::ports::OsEntropy;
use webhook_core::sender::{Audience, Owner, StoredEvent};

use super::{Desk, DeskError};
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

/// An event that a transaction is about to send.
pub(super) struct Outgoing {
    event_type: EventType,
    now: SystemTime,
}

impl Desk {
    /// Prepares an event of this kind for a transaction.
    pub(super) fn outgoing(&self, kind: EventKind) -> Outgoing {
        Outgoing {
            event_type: kind.event_type(),
            now: self.clock.now(),
        }
    }
}

impl Outgoing {
    /// Enqueues the event about `charge` for every registered endpoint, in the transaction that
    /// changes the charge.
    pub(super) fn send_in(&self, transaction: &Transaction<'_>, charge: &Charge) -> Result<(), DeskError> {
        outbox::send_in(transaction, self.event(charge), self.now)?;
        Ok(())
    }

    #[expect(
        clippy::expect_used,
        reason = "a charge always serialises to an object of moderate size"
    )]
    fn event(&self, charge: &Charge) -> StoredEvent {
        let object = serde_json::to_vec(&ChargeBody::of(charge)).expect("text, numbers and null");
        let version: EventVersion = FORMAT.parse().expect("visible characters");
        let id = EventId::generate(&OsEntropy);
        let envelope =
            Envelope::new(id, self.event_type.clone(), version, self.now, &object).expect("an object");
        StoredEvent::new(envelope, Audience::from(shop()))
    }
}
