//! Registered endpoints and the port of their store.
//!
//! ```
//! use webhook_core::{
//!     address::AddressPolicy,
//!     secret::SigningSecret,
//!     sender::{Endpoint, EventFilter},
//!     signature::Signer,
//! };
//!
//! let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let signer = Signer::standard_webhooks(&secret);
//! let policy = AddressPolicy::new();
//! let url = "https://example.com/hooks".parse()?;
//! let endpoint = Endpoint::register("ep_1".parse()?, &url, signer.clone(), &policy)?
//!     .with_events(EventFilter::only(["charge.refunded".parse()?]));
//! assert!(endpoint.events.matches(&"charge.refunded".parse()?));
//!
//! // an address of an internal network is refused
//! let internal = "https://192.168.0.1/".parse()?;
//! assert!(Endpoint::register("ep_2".parse()?, &internal, signer, &policy).is_err());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod at_rest;
mod id;
mod store;

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

pub use at_rest::SignersAtRest;
pub use id::{EndpointId, InvalidEndpointId};
pub use store::{EndpointStore, Inserted};

use super::{Classification, Delivery, DeliveryId, Destination, term::terms};
use crate::{
    address::{AddressPolicy, RefusedAddress},
    event::{EventId, EventType},
    signature::{Signer, Signers},
};

/// Filter of event types.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EventFilter {
    /// All types, also those that are introduced later.
    All,
    /// Exactly these types.
    Only(BTreeSet<EventType>),
}

impl EventFilter {
    /// Creates a filter for exactly these types.
    pub fn only(types: impl IntoIterator<Item = EventType>) -> Self {
        Self::Only(types.into_iter().collect())
    }

    /// Returns `true` if the filter accepts this type.
    #[must_use]
    pub fn matches(&self, event_type: &EventType) -> bool {
        match self {
            Self::All => true,
            Self::Only(types) => types.contains(event_type),
        }
    }
}

/// State of an endpoint.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum EndpointState {
    /// Events are delivered.
    Enabled,
    /// Deliveries wait until the endpoint is enabled, but not beyond their lifetime.
    Paused,
    /// The endpoint gets no new deliveries, and pending ones fail; they can be replayed.
    ///
    /// A 410 response or five days of failures disable an endpoint.
    Disabled,
}

terms!(EndpointState {
    Enabled => "enabled",
    Paused => "paused",
    Disabled => "disabled",
});

/// Registered endpoint of a receiver.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Primary key.
    pub id: EndpointId,
    /// Destination URL.
    pub url: Destination,
    /// Filter of event types.
    pub events: EventFilter,
    /// Signers of the messages: current secrets, and replaced ones until their overlap ends.
    pub signers: Signers,
    /// State of the endpoint.
    pub state: EndpointState,
    /// Classification of its responses.
    pub classification: Classification,
}

impl Endpoint {
    /// Registers an endpoint for all events, after its URL was checked with `policy`.
    ///
    /// # Security
    ///
    /// A host name is checked as a name here, because it can resolve to another address each time.
    /// The transport checks the resolved address when a message is sent.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress`] if the address rules do not allow the URL.
    pub fn register(
        id: EndpointId,
        url: &Destination,
        signers: impl Into<Signers>,
        policy: &AddressPolicy,
    ) -> Result<Self, RefusedAddress> {
        url.vet(policy)?;
        Ok(Self {
            id,
            url: url.clone(),
            events: EventFilter::All,
            signers: signers.into(),
            state: EndpointState::Enabled,
            classification: Classification::Strict,
        })
    }

    /// Sets the filter of event types.
    #[must_use]
    pub fn with_events(self, events: EventFilter) -> Self {
        Self { events, ..self }
    }

    /// Sets the classification of responses. Default: [`Classification::Strict`].
    #[must_use]
    pub fn with_classification(self, classification: Classification) -> Self {
        Self {
            classification,
            ..self
        }
    }

    /// Returns `true` if the endpoint is not disabled and its filter accepts this type.
    #[must_use]
    pub fn subscribes_to(&self, event_type: &EventType) -> bool {
        self.state != EndpointState::Disabled && self.events.matches(event_type)
    }

    /// Creates the delivery of an event to this endpoint, due at `now`; `None` if the endpoint does
    /// not [subscribe](Self::subscribes_to) to this type.
    #[must_use]
    pub fn delivery_of(&self, event: &EventId, event_type: &EventType, now: SystemTime) -> Option<Delivery> {
        let id = || DeliveryId {
            event: event.clone(),
            endpoint: self.id.clone(),
        };
        self.subscribes_to(event_type).then(|| Delivery::new(id(), now))
    }

    /// Rotates the secret: the new one signs from now on, the old ones of its scheme until the
    /// overlap ends.
    pub fn rotate(&mut self, rotation: &Rotation) -> Rotated {
        match self
            .signers
            .clone()
            .rotate(rotation.next.clone(), rotation.now, rotation.overlap)
        {
            Ok(signers) => {
                self.signers = signers;
                Rotated::Rotated
            }
            Err(_) => Rotated::Refused,
        }
    }
}

/// Rotation of an endpoint's secret.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Signer that becomes current.
    pub next: Signer,
    /// Current time.
    pub now: SystemTime,
    /// Time for which the old secrets sign beside the new one; [`Signers::OVERLAP`] is 24 hours.
    pub overlap: Duration,
}

/// Result of a rotation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rotated {
    /// The new secret is current; the old ones sign until the overlap ends.
    Rotated,
    /// The endpoint would have more than eight signers, or the overlap exceeds
    /// [`Signers::MAX_OVERLAP`]. Nothing changed.
    Refused,
    /// The endpoint does not exist.
    Unknown,
}
