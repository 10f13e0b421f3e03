//! Ports of the host: clock, randomness, HTTP transport, and the store error.
//!
//! They are re-exported from [`host_ports`]. The store traits are in [`store`](crate::store).

pub use host_ports::{
    Clock, Entropy, EntropyFn, ExchangeLimits, StoreError, StoreErrorKind, Transport, TransportError,
    TransportErrorKind, TransportFn, Truncated, entropy_fn, transport_fn,
};
#[cfg(feature = "os")]
pub use host_ports::{OsEntropy, SystemClock};
