//! The ports of the host: time, randomness, HTTP exchanges, and the error of every store.
//!
//! They are those of [`host_ports`], which the whole suite shares. Store traits stand in [`store`](crate::store).

pub use host_ports::{
    Clock, Entropy, EntropyFn, ExchangeLimits, StoreError, StoreErrorKind, Transport, TransportError,
    TransportErrorKind, TransportFn, Truncated, entropy_fn, transport_fn,
};
#[cfg(feature = "os")]
pub use host_ports::{OsEntropy, SystemClock};
