//! Who gets events: the registered endpoints and the port that keeps them.
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
//! let endpoint = Endpoint::register("ep_1".parse()?, &"https://example.com/hooks".parse()?, signer.clone(), &policy)?
//!     .with_events(EventFilter::only(["charge.refunded".parse()?]));
//! assert!(endpoint.events.matches(&"charge.refunded".parse()?));
//!
//! // an address inside our own network cannot be registered
//! assert!(Endpoint::register("ep_2".parse()?, &"https://192.168.0.1/".parse()?, signer, &policy).is_err());
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

use super::{Delivery, DeliveryId, Destination, term::terms};
use crate::{
    address::{AddressPolicy, RefusedAddress},
    event::{EventId, EventType},
    signature::{Signer, Signers},
};

/// Which events an endpoint gets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EventFilter {
    /// Every one, also of types that do not exist yet.
    All,
    /// Those of exactly these types.
    Only(BTreeSet<EventType>),
}

impl EventFilter {
    /// Exactly these types.
    pub fn only(types: impl IntoIterator<Item = EventType>) -> Self {
        Self::Only(types.into_iter().collect())
    }

    /// Whether events of this type are wanted.
    #[must_use]
    pub fn matches(&self, event_type: &EventType) -> bool {
        match self {
            Self::All => true,
            Self::Only(types) => types.contains(event_type),
        }
    }
}

/// Whether an endpoint is called.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum EndpointState {
    /// It is.
    Enabled,
    /// Not for the time being: its deliveries wait, for as long as their lifetime.
    Paused,
    /// Not any more: it gets no new deliveries, and the ones it has fail (and may be replayed). A 410 answer leads here.
    Disabled,
}

terms!(EndpointState {
    Enabled => "enabled",
    Paused => "paused",
    Disabled => "disabled",
});

/// A registered receiver.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The key.
    pub id: EndpointId,
    /// Where its messages go.
    pub url: Destination,
    /// Which events it gets.
    pub events: EventFilter,
    /// What its messages are signed with: the current secrets, and old ones until they expire.
    pub signers: Signers,
    /// Whether it is called.
    pub state: EndpointState,
}

impl Endpoint {
    /// Registers a receiver for every event, after vetting its URL.
    ///
    /// # Security
    ///
    /// A name is judged as a name here. What it resolves to is judged when a message is sent, by the transport, because that
    /// can be another address each time.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress`] when the URL is one that must not be called.
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
        })
    }

    /// Only for these events.
    #[must_use]
    pub fn with_events(self, events: EventFilter) -> Self {
        Self { events, ..self }
    }

    /// Whether it gets events of this type: it is not disabled, and wants them.
    #[must_use]
    pub fn subscribes_to(&self, event_type: &EventType) -> bool {
        self.state != EndpointState::Disabled && self.events.matches(event_type)
    }

    /// The delivery of an event to this endpoint, due at once, if it [gets](Self::subscribes_to) events of this type.
    #[must_use]
    pub fn delivery_of(&self, event: &EventId, event_type: &EventType, now: SystemTime) -> Option<Delivery> {
        let id = || DeliveryId {
            event: event.clone(),
            endpoint: self.id.clone(),
        };
        self.subscribes_to(event_type).then(|| Delivery::new(id(), now))
    }

    /// Signs with a new secret from now on, and with the old ones of the same scheme for the overlap.
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

/// The change from one secret to the next.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Signs from now on.
    pub next: Signer,
    /// The present.
    pub now: SystemTime,
    /// How long the old secrets go on signing beside it: [`Signers::OVERLAP`] unless there is a reason.
    pub overlap: Duration,
}

/// What came of a rotation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rotated {
    /// Both secrets sign for the overlap, the new one from now on.
    Rotated,
    /// The endpoint has eight secrets in use, as many as a message can carry, or the overlap is longer than
    /// [`Signers::MAX_OVERLAP`]; nothing was changed.
    Refused,
    /// There is no such endpoint.
    Unknown,
}
