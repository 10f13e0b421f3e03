#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "address")]
pub mod address;
mod clock;
mod entropy;
pub mod field;
mod media_type;
#[cfg(feature = "os")]
mod os_entropy;
mod principal;
mod scopes;
mod store_error;
#[cfg(feature = "testing")]
pub mod testing;
mod timer;
mod transport;

pub use clock::Clock;
#[cfg(feature = "os")]
pub use clock::SystemClock;
pub use entropy::{Entropy, EntropyFn, entropy_fn};
pub use media_type::{Accept, ContentType, InvalidMediaType, MediaRange, MediaType, Weight};
#[cfg(feature = "os")]
pub use os_entropy::OsEntropy;
pub use principal::Principal;
pub use scopes::{InvalidScope, Scope, Scopes};
pub use store_error::{StoreError, StoreErrorKind};
pub use timer::{Sleep, Timer, TimerFn, timer_fn};
pub use transport::{
    ExchangeLimits, Transport, TransportError, TransportErrorKind, TransportFn, Truncated,
    UnknownTransportErrorKind, transport_fn,
};
