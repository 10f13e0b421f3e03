//! For tests of a host; exempt from semantic versioning.
//!
//! ```
//! use graph_core::ports::Entropy as _;
//! use graph_core::testing::SeededEntropy;
//!
//! let (mut first, mut second) = ([0; 8], [0; 8]);
//! SeededEntropy::new(7).fill(&mut first);
//! SeededEntropy::new(7).fill(&mut second);
//! assert_eq!(first, second);
//! ```
//!
//! A kit is a list of cases that any implementation of a store port must pass, and a macro that makes a test of each:
//!
//! ```
//! mod persisted {
//!     graph_core::testing::persisted_store!(#[tokio::test] graph_core::memory::MemoryPersisted::new(8 << 20));
//! }
//! ```
//!
//! The expression makes an **empty** store with room for some megabytes and runs once per case; write `async { … }` where making
//! one takes an `await`. Races are 32 calls from 32 threads that the kit starts; a store that needs a runtime brings its handle
//! along.

mod race;

pub mod persisted_store;

pub use crate::persisted_store;
pub use host_ports::testing::{ManualClock, SeededEntropy};

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
