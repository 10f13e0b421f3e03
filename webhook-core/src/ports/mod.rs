//! Ports that the host implements: clock, timer, randomness, HTTP transport, store errors, and
//! encryption at rest.
//!
//! All except [`Sealer`] come from [`host_ports`], which all crates of the suite share. The store
//! traits are in the modules that call them, such as [`receiver::Dedupe`](crate::receiver::Dedupe);
//! in-memory stores are in [`memory`](crate::memory).

mod sealer;

pub use host_ports::{
    Clock, Entropy, EntropyFn, ExchangeLimits, Sleep, StoreError, StoreErrorKind, Timer, TimerFn, Transport,
    TransportError, TransportErrorKind, TransportFn, Truncated, entropy_fn, timer_fn, transport_fn,
};
#[cfg(feature = "os")]
pub use host_ports::{OsEntropy, SystemClock};
pub use sealer::{SealError, Sealer};
