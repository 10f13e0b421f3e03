//! Changes of a registered endpoint.

use std::num::NonZeroU32;

use super::{Endpoint, EndpointState, EventFilter, StaticHeaders};
use crate::{
    address::{AddressPolicy, RefusedAddress},
    sender::{Classification, ContentMode, Destination},
};

/// Change of an endpoint: the fields that are set replace those of the endpoint.
///
/// The id and the owner never change. [`EndpointStore::rotate`](super::EndpointStore::rotate)
/// changes the secret.
///
/// # Examples
///
/// ```
/// use webhook_core::{
///     address::AddressPolicy,
///     sender::{EndpointState, EndpointUpdate},
/// };
///
/// let update = EndpointUpdate::new()
///     .with_url(&"https://example.com/v2/hooks".parse()?, &AddressPolicy::new())?
///     .with_state(EndpointState::Paused);
/// assert_eq!(update.state, Some(EndpointState::Paused));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct EndpointUpdate {
    /// New destination.
    pub url: Option<Destination>,
    /// New filter of event types.
    pub events: Option<EventFilter>,
    /// New state.
    pub state: Option<EndpointState>,
    /// New classification of responses.
    pub classification: Option<Classification>,
    /// New rate in deliveries a second; `Some(None)` removes it.
    pub rate: Option<Option<NonZeroU32>>,
    /// New static headers; they replace all former ones.
    pub headers: Option<StaticHeaders>,
    /// New content mode.
    pub content: Option<ContentMode>,
}

impl EndpointUpdate {
    /// Creates an update that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the destination, after it was checked with `policy`.
    ///
    /// # Errors
    ///
    /// [`RefusedAddress`] if the address rules do not allow the URL.
    pub fn with_url(self, url: &Destination, policy: &AddressPolicy) -> Result<Self, RefusedAddress> {
        url.vet(policy)?;
        let url = Some(url.clone());
        Ok(Self { url, ..self })
    }

    /// Sets the filter of event types.
    #[must_use]
    pub fn with_events(self, events: EventFilter) -> Self {
        let events = Some(events);
        Self { events, ..self }
    }

    /// Sets the state.
    #[must_use]
    pub fn with_state(self, state: EndpointState) -> Self {
        let state = Some(state);
        Self { state, ..self }
    }

    /// Sets the classification of responses.
    #[must_use]
    pub fn with_classification(self, classification: Classification) -> Self {
        let classification = Some(classification);
        Self {
            classification,
            ..self
        }
    }

    /// Sets the rate in deliveries a second; `None` removes it.
    #[must_use]
    pub fn with_rate(self, rate: Option<NonZeroU32>) -> Self {
        let rate = Some(rate);
        Self { rate, ..self }
    }

    /// Replaces the static headers.
    #[must_use]
    pub fn with_headers(self, headers: StaticHeaders) -> Self {
        let headers = Some(headers);
        Self { headers, ..self }
    }

    /// Sets the content mode.
    #[must_use]
    pub fn with_content(self, content: ContentMode) -> Self {
        let content = Some(content);
        Self { content, ..self }
    }
}

impl Endpoint {
    /// Applies an update.
    pub fn update(&mut self, update: EndpointUpdate) {
        fn set<T>(field: &mut T, new: Option<T>) {
            if let Some(new) = new {
                *field = new;
            }
        }
        set(&mut self.url, update.url);
        set(&mut self.events, update.events);
        set(&mut self.state, update.state);
        set(&mut self.classification, update.classification);
        set(&mut self.rate, update.rate);
        set(&mut self.headers, update.headers);
        set(&mut self.content, update.content);
    }
}
