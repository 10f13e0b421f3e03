//! Events: identifiers, types, and the envelope with its exact bytes.
//!
//! An [`Envelope`] is a JSON object `{"id","type","version","created","data":{"object":{…}}}`. The
//! sender serializes it once, then signs, stores and sends the same bytes: a second serialization
//! could differ from the bytes that were signed.

mod envelope;
mod id;
mod kind;
mod timestamp;

pub use envelope::{Envelope, InvalidEnvelope};
pub use id::{EventId, InvalidEventId};
pub use kind::{EventType, EventVersion, InvalidEventType, InvalidEventVersion};
pub use timestamp::{InvalidTimestamp, Timestamp};
