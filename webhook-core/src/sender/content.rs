//! Content modes: the envelope of this crate, or CloudEvents 1.0.

use std::time::SystemTime;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{StoredEvent, term::terms};
use crate::{
    event::{Envelope, EventVersion},
    signature::scheme::TimeUnit,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const CLOUD_EVENT: HeaderValue = HeaderValue::from_static("application/cloudevents+json");

/// Content of the messages to an endpoint.
///
/// In the two CloudEvents modes, `data` is the resource of the envelope (`data.object`), and the
/// extension attribute `eventversion` is the envelope's version. If a host stored a body that is
/// not an [`Envelope`], the body itself is the data.
///
/// See [CloudEvents 1.0.2](https://github.com/cloudevents/spec/tree/v1.0.2/cloudevents): the
/// specification, and its HTTP protocol binding.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ContentMode {
    /// The stored body unchanged, as `application/json`: the envelope of this crate.
    #[default]
    Envelope,
    /// CloudEvents in structured mode: one JSON object with the attributes and the data, as
    /// `application/cloudevents+json`. The signature covers all of it.
    CloudEventsStructured,
    /// CloudEvents in binary mode: the data is the body, and the attributes are `ce-*` headers.
    ///
    /// # Security
    ///
    /// The signature covers the body and the `Webhook-*` headers, which include the id. It does not
    /// cover `ce-type` and `ce-source`: a receiver must not trust them if an attacker can change
    /// the message on its way.
    CloudEventsBinary,
}

terms!(ContentMode {
    Envelope => "envelope",
    CloudEventsStructured => "cloudevents_structured",
    CloudEventsBinary => "cloudevents_binary",
});

/// Body and headers of a message, before they are signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Content {
    pub(super) body: Bytes,
    pub(super) headers: HeaderMap,
}

impl Content {
    /// Writes the message for this event. `source` is the CloudEvents attribute of the host.
    pub(super) fn of(event: &StoredEvent, mode: ContentMode, source: &str) -> Self {
        match mode {
            ContentMode::Envelope => Self::new(event.body.clone(), JSON),
            ContentMode::CloudEventsStructured => Self::new(structured(event, source), CLOUD_EVENT),
            ContentMode::CloudEventsBinary => binary(event, source),
        }
    }

    fn new(body: Bytes, content_type: HeaderValue) -> Self {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, content_type)]);
        Self { body, headers }
    }
}

/// Attributes and data of a CloudEvent in the JSON format.
#[derive(Serialize)]
struct CloudEvent<'a> {
    specversion: &'a str,
    id: &'a str,
    source: &'a str,
    #[serde(rename = "type")]
    event_type: &'a str,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    eventversion: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    datacontenttype: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_base64: Option<String>,
}

fn structured(event: &StoredEvent, source: &str) -> Bytes {
    let (data, version) = data(event);
    let json: Option<&RawValue> = serde_json::from_slice(&data).ok();
    let written = CloudEvent {
        specversion: "1.0",
        id: event.id.as_str(),
        source,
        event_type: event.event_type.as_str(),
        time: time(event.created_at),
        eventversion: version.as_ref().map(EventVersion::as_str),
        datacontenttype: json.map(|_| "application/json"),
        data: json,
        data_base64: json.is_none().then(|| BASE64_STANDARD.encode(&data)),
    };
    // a struct of texts can always be written
    serde_json::to_vec(&written).unwrap_or_default().into()
}

fn binary(event: &StoredEvent, source: &str) -> Content {
    let (data, version) = data(event);
    let time = time(event.created_at);
    let mut content = Content::new(data, JSON);
    let attributes = [
        ("ce-specversion", Some("1.0")),
        ("ce-id", Some(event.id.as_str())),
        ("ce-source", Some(source)),
        ("ce-type", Some(event.event_type.as_str())),
        ("ce-time", Some(&*time)),
        ("ce-eventversion", version.as_ref().map(EventVersion::as_str)),
    ];
    for (name, value) in attributes {
        let value = value.and_then(|value| HeaderValue::from_str(&escaped(value)).ok());
        if let Some(value) = value {
            content.headers.insert(HeaderName::from_static(name), value);
        }
    }
    content
}

/// Resource of the envelope with the version; the whole body if it is no envelope.
fn data(event: &StoredEvent) -> (Bytes, Option<EventVersion>) {
    match Envelope::parse(event.body.clone()) {
        Ok(envelope) => (envelope.object().clone(), envelope.version().cloned()),
        Err(_) => (event.body.clone(), None),
    }
}

fn time(time: SystemTime) -> String {
    TimeUnit::Rfc3339.write(time)
}

/// Percent-encodes an attribute for a header (HTTP binding §3.1.3.2): spaces, `"`, `%`, and all
/// characters that are not printable ASCII.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_graphic() && !matches!(byte, b'"' | b'%') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    /// W25: the examples of the HTTP binding §3.1.3.2.
    #[test]
    fn header_attributes_are_percent_encoded() {
        assert_eq!(escaped("Euro € 😀"), "Euro%20%E2%82%AC%20%F0%9F%98%80");
        assert_eq!(escaped("100% \"x\""), "100%25%20%22x%22");
    }
}
