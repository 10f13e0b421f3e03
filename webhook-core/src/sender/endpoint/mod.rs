//! Registered endpoints and the port of their store.
//!
//! ```
//! use webhook_core::{
//!     address::AddressPolicy,
//!     secret::SigningSecret,
//!     sender::{Endpoint, EventFilter, EventPattern, Owner},
//!     signature::Signer,
//! };
//!
//! let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let signer = Signer::standard_webhooks(&secret);
//! let policy = AddressPolicy::new();
//! let url = "https://example.com/hooks".parse()?;
//! let acme = Owner::Tenant("acme".parse()?);
//! let pattern: EventPattern = "charge.*".parse()?;
//! let endpoint = Endpoint::register("ep_1".parse()?, acme.clone(), &url, signer.clone(), &policy)?
//!     .with_events(EventFilter::only([pattern]));
//! assert!(endpoint.events.matches(&"charge.refunded".parse()?));
//!
//! // an address of an internal network is refused
//! let internal = "https://192.168.0.1/".parse()?;
//! assert!(Endpoint::register("ep_2".parse()?, acme, &internal, signer, &policy).is_err());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod at_rest;
mod filter;
mod headers;
mod id;
mod store;
mod update;

use std::{
    num::NonZeroU32,
    time::{Duration, SystemTime},
};

pub use at_rest::SecretsAtRest;
pub use filter::{EventFilter, EventPattern, InvalidEventPattern};
pub use headers::{InvalidStaticHeader, StaticHeaders};
pub use id::{EndpointId, InvalidEndpointId};
pub use store::{EndpointQuery, EndpointStore, Inserted};
pub use update::EndpointUpdate;

use super::{Audience, Classification, ContentMode, Delivery, DeliveryId, Destination, Owner, term::terms};
use crate::{
    address::{AddressPolicy, RefusedAddress},
    event::{EventId, EventType},
    signature::{Signer, Signers},
};

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
    /// Tenant or operator that the endpoint belongs to. It gets events of this owner only.
    pub owner: Owner,
    /// Destination URL.
    pub url: Destination,
    /// Filter of event types.
    pub events: EventFilter,
    /// Signers of the messages: current secrets, and replaced ones until their overlap ends.
    pub signers: Signers,
    /// State of the endpoint.
    pub state: EndpointState,
    /// Classification of the endpoint's responses.
    pub classification: Classification,
    /// Maximum rate in deliveries a second, over all dispatchers of the outbox; `None` for no
    /// maximum.
    ///
    /// The outbox enforces it from the first settled delivery on, so the first deliveries after a
    /// change may exceed it, up to the concurrency limit of the endpoint.
    pub rate: Option<NonZeroU32>,
    /// Headers that are added to each message.
    pub headers: StaticHeaders,
    /// Content of the messages.
    pub content: ContentMode,
}

impl Endpoint {
    /// Creates an enabled endpoint for all event types, after its URL was checked with `policy`.
    /// Store it with [`EndpointStore::insert`].
    ///
    /// # Security
    ///
    /// Host names are not resolved here, because they can resolve to another address each time. The
    /// transport checks the resolved address when a message is sent.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress`] if the address rules do not allow the URL.
    pub fn register(
        id: EndpointId,
        owner: Owner,
        url: &Destination,
        signers: impl Into<Signers>,
        policy: &AddressPolicy,
    ) -> Result<Self, RefusedAddress> {
        url.vet(policy)?;
        Ok(Self {
            id,
            owner,
            url: url.clone(),
            events: EventFilter::All,
            signers: signers.into(),
            state: EndpointState::Enabled,
            classification: Classification::Strict,
            rate: None,
            headers: StaticHeaders::default(),
            content: ContentMode::Envelope,
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

    /// Sets the maximum rate in deliveries a second. Default: none.
    #[must_use]
    pub fn with_rate(self, rate: NonZeroU32) -> Self {
        Self {
            rate: Some(rate),
            ..self
        }
    }

    /// Sets the headers that are added to each message. Default: none.
    #[must_use]
    pub fn with_headers(self, headers: StaticHeaders) -> Self {
        Self { headers, ..self }
    }

    /// Sets the content of the messages. Default: [`ContentMode::Envelope`].
    #[must_use]
    pub fn with_content(self, content: ContentMode) -> Self {
        Self { content, ..self }
    }

    /// Returns `true` if the endpoint is not disabled, belongs to the audience, and its filter
    /// accepts this type.
    #[must_use]
    pub fn subscribes_to(&self, event_type: &EventType, audience: &Audience) -> bool {
        self.state != EndpointState::Disabled
            && audience.includes(&self.owner)
            && self.events.matches(event_type)
    }

    /// Creates the delivery of an event to this endpoint, due at `now`; `None` if the endpoint does
    /// not [subscribe](Self::subscribes_to) to this type of this audience.
    #[must_use]
    pub fn delivery_of(
        &self,
        event: &EventId,
        event_type: &EventType,
        audience: &Audience,
        now: SystemTime,
    ) -> Option<Delivery> {
        let id = || DeliveryId {
            event: event.clone(),
            endpoint: self.id.clone(),
        };
        self.subscribes_to(event_type, audience)
            .then(|| Delivery::new(id(), now))
    }

    /// Rotates the secret: the new secret signs from `rotation.now` on, and the old secrets of its
    /// scheme sign beside it until the overlap ends.
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
