//! The shop: charges, their events and the receivers in one database.

use std::future::pending;
use std::time::SystemTime;

use tokio::sync::Notify;
use webhook_core::event::{Envelope, EventId, EventType};
use webhook_core::ports::OsEntropy;
use webhook_core::sender::{Audience, EndpointStore, Outbox, StoredEvent};

use crate::Failure;

/// Tenant of all receivers.
pub(crate) const TENANT: &str = "shop";

/// Database of the shop.
pub(crate) trait Shop: Outbox + EndpointStore + Clone + 'static {
    /// Stores a charge and its event in one transaction.
    fn book(&self, amount: u32) -> impl Future<Output = Result<EventId, Failure>> + Send;

    /// Wakes the dispatcher when another process stores an event. Never ends.
    fn watch(&self, _wake: &Notify) -> impl Future<Output = ()> + Send {
        pending()
    }
}

/// Creates the event about a charge.
pub(crate) fn event(number: i64, amount: u32, now: SystemTime) -> Result<StoredEvent, Failure> {
    let charge = format!(r#"{{"id":"ch_{number}","amount":{amount}}}"#);
    let (id, event_type): (_, EventType) = (EventId::generate(&OsEntropy), "charge.created".parse()?);
    let event = Envelope::new(id, event_type, "1".parse()?, now, charge.as_bytes())?;
    Ok(StoredEvent::new(event, Audience::tenant(TENANT.parse()?)))
}
