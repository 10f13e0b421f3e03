//! The event: its identifiers, its envelope and the exact bytes that are signed, sent and stored.
//!
//! An [`Envelope`] is `{"id","type","version","created","data":{"object":{…}}}`. It is written once, when the event happens,
//! and from then on only its bytes travel: whoever serialises it again changes what was signed.

mod envelope;
mod id;
mod kind;
mod timestamp;

pub use envelope::{Envelope, InvalidEnvelope};
pub use id::{EventId, InvalidEventId};
pub use kind::{EventType, EventVersion, InvalidEventType, InvalidEventVersion};
pub use timestamp::{InvalidTimestamp, Timestamp};
