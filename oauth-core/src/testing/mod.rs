//! For tests, and exempt from semver: a clock that stands still, entropy that repeats, and a kit for each store port.
//!
//! A kit is a list of cases that any implementation of the port must pass, and a macro that makes a test of each:
//!
//! ```
//! mod tokens {
//!     oauth_core::testing::token_store!(#[tokio::test] oauth_core::memory::MemoryTokens::new());
//! }
//! ```
//!
//! The expression makes an **empty** store and runs once per case; write `async { … }` where making one takes an `await`.
//! Races are 32 calls from 32 threads that the kit starts; a store that needs a runtime brings its handle along.
//!
//! `parallel_requests!` asks a whole authorization server over the store the same thing four times at once; [`Delayed`] makes
//! it a slow store, in which what is not one step shows.

mod delayed;
mod race;
mod records;

pub mod attempt_store;
pub mod client_store;
pub mod faults;
pub mod history;
pub mod interaction_store;
#[cfg(feature = "_signatures")]
pub mod parallel_requests;
pub mod replay_store;
pub mod session_store;
pub mod token_store;
pub mod verbs;
#[cfg(feature = "_signatures")]
pub mod verifications;

pub use delayed::Delayed;
pub use host_ports::testing::{ManualClock, ScriptedTransport, SeededEntropy};

#[cfg(feature = "_signatures")]
pub use crate::parallel_requests;
pub use crate::{attempt_store, client_store, interaction_store, replay_store, session_store, token_store};

/// Makes one test of each case of a kit; what the kit macros expand to.
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
