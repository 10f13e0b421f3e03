//! Ports of the host: time, timers, randomness and the error of every store.
//!
//! Re-exports of [`host_ports`], which the whole suite shares. Store traits are in the module that
//! calls them, such as [`IdempotencyStore`](crate::idempotency::IdempotencyStore).

pub use host_ports::{
    Clock, Entropy, EntropyFn, Sleep, StoreError, StoreErrorKind, Timer, TimerFn, entropy_fn, timer_fn,
};
#[cfg(feature = "os")]
pub use host_ports::{OsEntropy, SystemClock};
