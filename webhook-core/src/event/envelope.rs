//! The event envelope: id, type, version, time, and the resource that the event is about.

use std::{borrow::Cow, time::SystemTime};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{EventId, EventType, EventVersion, Timestamp};

/// An event with its exact bytes.
///
/// [`new`](Self::new) writes the bytes once; [`parse`](Self::parse) keeps them as they arrived.
/// Sign, send and store these bytes only. Clones share them.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use webhook_core::event::Envelope;
///
/// let charged = Envelope::new(
///     "evt_1".parse()?,
///     "charge.created".parse()?,
///     "1".parse()?,
///     SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000),
///     br#"{"id": "ch_1"}"#,
/// )?;
/// let head = r#"{"id":"evt_1","type":"charge.created","version":"1","created":1700000000,"#;
/// let data = r#""data":{"object":{"id": "ch_1"}}}"#;
/// assert_eq!(charged.bytes(), &[head, data].concat());
/// assert_eq!(Envelope::parse(charged.bytes().clone())?.object(), charged.object());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Envelope {
    id: EventId,
    event_type: EventType,
    version: Option<EventVersion>,
    created: Timestamp,
    object: Bytes,
    bytes: Bytes,
}

impl Envelope {
    /// Creates the envelope of an event about `object`, the JSON text of an object.
    ///
    /// The text of `object` is copied unchanged. Every receiver of the event can read it: include
    /// only the members that receivers need, or a reference that they can fetch.
    ///
    /// # Errors
    ///
    /// [`InvalidEnvelope`] if `object` is not the JSON text of an object.
    pub fn new(
        id: EventId,
        event_type: EventType,
        version: EventVersion,
        created: SystemTime,
        object: &[u8],
    ) -> Result<Self, InvalidEnvelope> {
        let object: &RawValue = serde_json::from_slice(object).map_err(|_| InvalidEnvelope(()))?;
        if !object.get().starts_with('{') {
            return Err(InvalidEnvelope(()));
        }
        let created = Timestamp::from(created);
        let written = Written {
            id: id.as_str(),
            event_type: event_type.as_str(),
            version: version.as_str(),
            created: created.as_seconds(),
            data: Data { object },
        };
        let bytes = Bytes::from(serde_json::to_vec(&written).map_err(|_| InvalidEnvelope(()))?);
        // `object` is the last value, before the closing braces of `data` and of the envelope
        let end = bytes.len() - 2;
        let object = bytes.slice(end - object.get().len()..end);
        Ok(Self {
            id,
            event_type,
            version: Some(version),
            created,
            object,
            bytes,
        })
    }

    /// Parses an envelope and keeps its bytes unchanged.
    ///
    /// - Unknown members are ignored.
    /// - `version` may be missing, because some senders do not write it.
    ///
    /// # Errors
    ///
    /// [`InvalidEnvelope`] if the bytes are not one JSON object with a valid `id`, `type`,
    /// `created` and an object at `data.object`, or if one of these members is repeated.
    pub fn parse(bytes: Bytes) -> Result<Self, InvalidEnvelope> {
        let read: Read<'_> = members(&bytes)?;
        let data: Data<'_> = members(read.data.get().as_bytes())?;
        let object = data.object.get();
        if !object.starts_with('{') {
            return Err(InvalidEnvelope(()));
        }
        Ok(Self {
            id: read.id.parse().map_err(|_| InvalidEnvelope(()))?,
            event_type: read.event_type.parse().map_err(|_| InvalidEnvelope(()))?,
            version: read
                .version
                .map(|version| version.parse())
                .transpose()
                .map_err(|_| InvalidEnvelope(()))?,
            created: Timestamp::from_seconds(read.created).ok_or(InvalidEnvelope(()))?,
            object: bytes.slice_ref(object.as_bytes()),
            bytes,
        })
    }

    /// Parses only the `id`, for receivers of other body formats.
    pub(crate) fn id_in(bytes: &[u8]) -> Result<EventId, InvalidEnvelope> {
        let Identified { id } = members(bytes)?;
        id.parse().map_err(|_| InvalidEnvelope(()))
    }

    /// Identifier of the event; receivers detect duplicates by it.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.id
    }

    /// Type of the event, such as `charge.created`.
    #[must_use]
    pub fn event_type(&self) -> &EventType {
        &self.event_type
    }

    /// Version of the event's format; `None` if the sender wrote no version.
    #[must_use]
    pub fn version(&self) -> Option<&EventVersion> {
        self.version.as_ref()
    }

    /// Time of the event in whole seconds.
    ///
    /// Events may arrive in any order. Of two events about one resource, the one with the earlier
    /// time is out of date.
    #[must_use]
    pub fn created(&self) -> SystemTime {
        self.created.into()
    }

    /// JSON text of `data.object`, a slice of [`bytes`](Self::bytes).
    ///
    /// # Security
    ///
    /// The object is untrusted input, even after its signature was verified. A URL in it may point
    /// into the receiver's own network: check it with
    /// [`AddressPolicy`](crate::address::AddressPolicy).
    #[must_use]
    pub fn object(&self) -> &Bytes {
        &self.object
    }

    /// Exact bytes to sign, to send and to store.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Converts the envelope into its exact bytes.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }
}

/// Error: the bytes are not an event envelope.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an event envelope with id, type, created and data.object")]
pub struct InvalidEnvelope(());

#[cfg(feature = "sender")]
impl InvalidEnvelope {
    pub(crate) const fn new() -> Self {
        Self(())
    }
}

#[derive(Serialize)]
struct Written<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    event_type: &'a str,
    version: &'a str,
    created: u64,
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Read<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    event_type: Cow<'a, str>,
    version: Option<String>,
    created: u64,
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Deserialize, Serialize)]
struct Data<'a> {
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

/// Parses a JSON object.
///
/// The derived `Deserialize` alone would also accept a JSON array with the members in order.
fn members<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, InvalidEnvelope> {
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(InvalidEnvelope(()));
    }
    serde_json::from_slice(text).map_err(|_| InvalidEnvelope(()))
}
