//! The ports of the host: time, randomness, HTTP exchanges, the error of every store, and encryption at rest.
//!
//! All but [`Sealer`] are those of [`host_ports`], which the whole suite shares. Store traits stand beside the logic that calls
//! them, such as [`receiver::Dedupe`](crate::receiver::Dedupe); in-memory stores are in [`memory`](crate::memory).

mod sealer;

pub use host_ports::{
    Clock, Entropy, EntropyFn, ExchangeLimits, StoreError, StoreErrorKind, Transport, TransportError,
    TransportErrorKind, TransportFn, Truncated, entropy_fn, transport_fn,
};
#[cfg(feature = "os")]
pub use host_ports::{OsEntropy, SystemClock};
pub use sealer::{SealError, Sealer};
