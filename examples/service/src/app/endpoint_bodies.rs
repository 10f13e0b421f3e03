//! Request bodies of `/v1/webhook-endpoints`.

use std::num::NonZeroU32;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use webhook_core::sender::{
    Classification, ContentMode, EndpointState, EndpointUpdate, EventFilter, EventPattern, StaticHeaders,
};

use crate::domain::{Fault, whole};

/// Owner of an endpoint on the wire.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Audience {
    /// Events about charges.
    #[default]
    Shop,
    /// Operational events: failing endpoints, rotated secrets, a wrong clock.
    Operator,
}

/// Static header; its value is never shown again.
#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

/// Defines a body with the settings that a registration and a change have in common. An absent
/// setting is `None`; null means the default.
///
/// Serde buffers a flattened struct, so that its faults would have no pointer.
macro_rules! with_settings {
    ($(#[$doc:meta])* struct $name:ident { $($members:tt)* }) => {
        $(#[$doc])*
        #[derive(Deserialize)]
        pub(super) struct $name {
            $($members)*
            #[serde(default, deserialize_with = "events")]
            events: Option<EventFilter>,
            #[serde(default, deserialize_with = "rate")]
            rate: Option<Option<NonZeroU32>>,
            #[serde(default, deserialize_with = "headers")]
            headers: Option<StaticHeaders>,
            #[serde(default, deserialize_with = "content")]
            content: Option<ContentMode>,
            #[serde(default, deserialize_with = "classification")]
            classification: Option<Classification>,
        }

        impl $name {
            /// Moves the settings to an update.
            pub(super) fn take_settings(&mut self, mut update: EndpointUpdate) -> EndpointUpdate {
                if let Some(events) = self.events.take() {
                    update = update.with_events(events);
                }
                if let Some(rate) = self.rate.take() {
                    update = update.with_rate(rate);
                }
                if let Some(headers) = self.headers.take() {
                    update = update.with_headers(headers);
                }
                if let Some(content) = self.content.take() {
                    update = update.with_content(content);
                }
                if let Some(classification) = self.classification.take() {
                    update = update.with_classification(classification);
                }
                update
            }
        }
    };
}

with_settings! {
    /// Body of `POST /v1/webhook-endpoints`.
    struct NewEndpoint {
        pub(super) url: String,
        #[serde(default)]
        pub(super) audience: Audience,
    }
}

with_settings! {
    /// Body of `PATCH /v1/webhook-endpoints/{id}`: a JSON merge patch (RFC 7396).
    struct Changes {
        // neither has a default, so null is refused
        #[serde(default, deserialize_with = "present")]
        pub(super) url: Option<String>,
        #[serde(default, deserialize_with = "state")]
        pub(super) state: Option<EndpointState>,
    }
}

fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(given: D) -> Result<Option<T>, D::Error> {
    T::deserialize(given).map(Some)
}

/// Deserializes a member and parses it; `None` for null.
fn parsed<'de, R: Deserialize<'de>, T, D: Deserializer<'de>>(
    given: D,
    fault: &Fault,
    parse: impl FnOnce(R) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    let read = Option::<R>::deserialize(given)?;
    read.map(|read| parse(read).ok_or_else(|| D::Error::custom(fault.detail)))
        .transpose()
}

fn state<'de, D: Deserializer<'de>>(given: D) -> Result<Option<EndpointState>, D::Error> {
    let state = String::deserialize(given)?.parse();
    state
        .map(Some)
        .map_err(|_| D::Error::custom(Fault::ENDPOINT_STATE.detail))
}

fn events<'de, D: Deserializer<'de>>(given: D) -> Result<Option<EventFilter>, D::Error> {
    let patterns = parsed(given, &Fault::EVENT_TYPE, |texts: Vec<String>| {
        let patterns = texts.into_iter().map(EventPattern::try_from);
        patterns.collect::<Result<Vec<_>, _>>().ok()
    });
    Ok(Some(patterns?.map_or(EventFilter::All, EventFilter::only)))
}

fn rate<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Option<NonZeroU32>>, D::Error> {
    let rate = parsed(given, &Fault::RATE, |rate: f64| {
        whole(rate).and_then(|rate| u32::try_from(rate).ok().and_then(NonZeroU32::new))
    });
    rate.map(Some)
}

fn headers<'de, D: Deserializer<'de>>(given: D) -> Result<Option<StaticHeaders>, D::Error> {
    let headers = parsed(given, &Fault::STATIC_HEADER, |headers: Vec<Header>| {
        let headers = headers.iter().map(|header| (&*header.name, &*header.value));
        StaticHeaders::new(headers).ok()
    });
    Ok(Some(headers?.unwrap_or_default()))
}

fn content<'de, D: Deserializer<'de>>(given: D) -> Result<Option<ContentMode>, D::Error> {
    let content = parsed(given, &Fault::CONTENT_MODE, |word: String| word.parse().ok());
    Ok(Some(content?.unwrap_or_default()))
}

fn classification<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Classification>, D::Error> {
    let classification = parsed(given, &Fault::CLASSIFICATION, |word: String| word.parse().ok());
    Ok(Some(classification?.unwrap_or(Classification::Strict)))
}
