//! For tests, and exempt from semver: a clock that stands still, entropy that repeats, a transport that plays back answers,
//! and a kit for each store port.
//!
//! A kit is a list of cases that any implementation of the port must pass, and a macro that makes a test of each:
//!
//! ```
//! mod memory {
//!     webhook_core::testing::dedupe_store!(#[tokio::test] webhook_core::memory::MemoryInbox::default());
//! }
//! ```
//!
//! The expression makes an **empty** store and runs once per case; write `async { … }` where making one takes an `await`.
//! Races are 32 calls from 32 threads that the kit starts; a store that needs a runtime brings its handle along.

pub(crate) mod race;

pub mod claims;
pub mod dedupe;
pub mod endpoint_store;
pub mod inbox;
pub mod latest_seen;
pub mod outbox;
pub mod sealer;
pub mod simulation;

pub use host_ports::testing::{ManualClock, ScriptedTransport, SeededEntropy};
pub use outbox::retention;

pub use crate::{claims, dedupe_store, endpoint_store, inbox_store, latest_seen, outbox, retention, sealer};

/// Makes one test of each case of a kit; what the macros of the kits expand to.
#[doc(hidden)]
#[macro_export]
macro_rules! __kit_cases {
    ($kit:ident $attributes:tt $store:tt: $($case:ident)*) => {
        $($crate::__kit_case! { $kit $attributes $store $case })*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kit_case {
    ($kit:ident [#[$attribute:meta]] [async $store:block] $case:ident) => {
        #[$attribute]
        async fn $case() {
            let store = async $store.await;
            $crate::testing::$kit::$case(&store).await;
        }
    };
    ($kit:ident [#[$attribute:meta]] [$store:expr] $case:ident) => {
        #[$attribute]
        async fn $case() {
            let store = $store;
            $crate::testing::$kit::$case(&store).await;
        }
    };
}
