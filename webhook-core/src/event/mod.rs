//! Events: identifiers, types, and the envelope with its exact bytes.
//!
//! An [`Envelope`] is `{"id","type","version","created","data":{"object":{…}}}`. It is written
//! once. From then on only its bytes are signed, stored and sent: a second serialization could
//! differ from the bytes that were signed.

mod envelope;
mod id;
mod kind;
mod timestamp;

pub use envelope::{Envelope, InvalidEnvelope};
pub use id::{EventId, InvalidEventId};
pub use kind::{EventType, EventVersion, InvalidEventType, InvalidEventVersion};
pub use timestamp::{InvalidTimestamp, Timestamp};
