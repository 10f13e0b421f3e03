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

use std::{
    collections::BTreeSet,
    fmt,
    str::FromStr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;

use super::{Destination, term::terms};
use crate::{
    address::{AddressPolicy, RefusedAddress},
    event::EventType,
    ports::{Entropy, StoreError},
    signature::{Signer, Signers},
};

const MAX_ID_LENGTH: usize = 256;

/// Identifies an endpoint: 1 to 256 visible ASCII characters, compared byte for byte.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EndpointId(Arc<str>);

impl EndpointId {
    /// Makes a fresh id: `ep_` and 128 random bits in hexadecimal.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(format!("ep_{:032x}", u128::from_be_bytes(bytes)).into())
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EndpointId {
    type Err = InvalidEndpointId;

    fn from_str(text: &str) -> Result<Self, InvalidEndpointId> {
        if (1..=MAX_ID_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidEndpointId(()))
        }
    }
}

impl TryFrom<String> for EndpointId {
    type Error = InvalidEndpointId;

    fn try_from(text: String) -> Result<Self, InvalidEndpointId> {
        text.parse()
    }
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Not an endpoint id: empty, longer than 256 bytes, or with a space, a control or a non-ASCII character.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an endpoint id is 1 to 256 visible ASCII characters")]
pub struct InvalidEndpointId(());

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
    /// Not for the time being: its deliveries wait.
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

/// What came of an insert.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Inserted {
    /// The endpoint is stored.
    Inserted,
    /// There is one with this id; nothing was changed.
    AlreadyExists,
}

/// Keeps the registered endpoints.
///
/// # What an implementation must guarantee
///
/// - **Each verb is one atomic step**, durable before it answers.
/// - **[`rotate`](Self::rotate) loses nothing**: of two rotations at once, the second sees what the first wrote.
/// - **Signers hold secrets.** Whoever reads the store can forge messages; encrypt them at rest where others can.
///
/// The kit [`testing::endpoint_store!`](crate::testing::endpoint_store) checks this.
#[async_trait]
pub trait EndpointStore: Send + Sync {
    /// Stores a new endpoint, unless the id is taken.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError>;

    /// The endpoint with this id.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError>;

    /// The endpoints that get events of this type, by ascending id: those that are not disabled and whose filter matches.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn subscribed(&self, event_type: &EventType) -> Result<Vec<Endpoint>, StoreError>;

    /// Enables, pauses or disables an endpoint. `false` when there is none with this id.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError>;

    /// Changes an endpoint's secret: loads it, calls [`Endpoint::rotate`], and writes it, in one step.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError>;
}
