//! The body of a webhook: who, what, when, and the resource it is about.

use std::{borrow::Cow, time::SystemTime};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{EventId, EventType, EventVersion, Timestamp};

/// An event with its exact bytes.
///
/// The bytes are written once, by [`new`](Self::new), or kept as they arrived, by [`parse`](Self::parse). They are the only
/// thing to sign, to send and to store; cloning shares them.
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
///     br#"{"id": "ch_1", "amount": 1200}"#,
/// )?;
/// assert_eq!(
///     charged.bytes(),
///     r#"{"id":"evt_1","type":"charge.created","version":"1","created":1700000000,"data":{"object":{"id": "ch_1", "amount": 1200}}}"#,
/// );
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
    /// Writes the envelope of an event about `object`, the JSON text of an object, which is taken over as it is.
    ///
    /// Carry only enough to act on, or a reference to fetch: what is in here reaches every receiver.
    ///
    /// # Errors
    ///
    /// When `object` is not the JSON text of an object.
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
        // the object comes last, before the ends of `data` and of the envelope
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

    /// Reads an envelope and keeps its bytes as they are.
    ///
    /// Members it does not know are ignored. A missing `version` is tolerated, since not every sender writes one.
    ///
    /// # Errors
    ///
    /// When the bytes are not one JSON object with a valid `id`, `type`, `created` and an object at `data.object`, or when one
    /// of these members appears twice.
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

    /// Reads nothing but the `id` of an envelope, for a receiver that knows no more of the format.
    pub(crate) fn id_in(bytes: &[u8]) -> Result<EventId, InvalidEnvelope> {
        let Identified { id } = members(bytes)?;
        id.parse().map_err(|_| InvalidEnvelope(()))
    }

    /// What a receiver recognises a repetition of this event by.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.id
    }

    /// What happened.
    #[must_use]
    pub fn event_type(&self) -> &EventType {
        &self.event_type
    }

    /// The version of the format, where the sender wrote one.
    #[must_use]
    pub fn version(&self) -> Option<&EventVersion> {
        self.version.as_ref()
    }

    /// When it happened, in whole seconds.
    ///
    /// Events may arrive in any order: of two about one resource, the one created earlier is out of date.
    #[must_use]
    pub fn created(&self) -> SystemTime {
        self.created.into()
    }

    /// The JSON text of `data.object`, a part of [`bytes`](Self::bytes).
    ///
    /// # Security
    ///
    /// Untrusted input even when the signature is right. A URL in it may point into the receiver's own network: see
    /// [`AddressPolicy`](crate::address::AddressPolicy).
    #[must_use]
    pub fn object(&self) -> &Bytes {
        &self.object
    }

    /// The exact bytes to sign, to send and to store.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Gives the exact bytes away.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }
}

/// Not the envelope of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an event envelope with id, type, created and data.object")]
pub struct InvalidEnvelope(());

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

/// Reads a JSON object. A derived reader would also take an array of the members in their order.
fn members<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, InvalidEnvelope> {
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(InvalidEnvelope(()));
    }
    serde_json::from_slice(text).map_err(|_| InvalidEnvelope(()))
}
