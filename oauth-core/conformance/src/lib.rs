#![doc = include_str!("../README.md")]

pub mod attempt_store;
pub mod client_store;
pub mod consent_store;
mod delayed;
pub mod faults;
pub mod history;
pub mod interaction_store;
pub mod logout_store;
#[cfg(feature = "_signatures")]
pub mod parallel_requests;
mod records;
pub mod replay_store;
pub mod session_store;
pub mod subject_locks;
pub mod token_store;
pub mod verbs;

pub use delayed::Delayed;
#[doc(hidden)]
pub use host_ports_conformance::__store;
#[doc(hidden)]
pub use interaction_store::{
    interactions as interaction_store_interactions, pushed as interaction_store_pushed,
};
#[doc(hidden)]
pub use session_store::{
    endings as session_store_endings, histories as session_store_histories, resets as session_store_resets,
    sessions as session_store_sessions, tables as session_store_tables,
};
#[doc(hidden)]
pub use token_store::{
    codes as token_store_codes, histories as token_store_histories, retention as token_store_retention,
    revocation as token_store_revocation, rotation as token_store_rotation,
};

/// Expands to one test per case of [`InteractionStore`](oauth_core::store::InteractionStore):
/// `interaction_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! interaction_store {
    ($($test:tt)+) => {
        $crate::interaction_store_interactions! { $($test)+ }
        $crate::interaction_store_pushed! { $($test)+ }
    };
}

/// Expands to one test per case of [`SessionStore`](oauth_core::store::SessionStore):
/// `session_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! session_store {
    ($($test:tt)+) => {
        $crate::session_store_endings! { $($test)+ }
        $crate::session_store_histories! { $($test)+ }
        $crate::session_store_resets! { $($test)+ }
        $crate::session_store_sessions! { $($test)+ }
        $crate::session_store_tables! { $($test)+ }
    };
}

/// Expands to one test per case of [`TokenStore`](oauth_core::store::TokenStore):
/// `token_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! token_store {
    ($($test:tt)+) => {
        $crate::token_store_codes! { $($test)+ }
        $crate::token_store_histories! { $($test)+ }
        $crate::token_store_retention! { $($test)+ }
        $crate::token_store_revocation! { $($test)+ }
        $crate::token_store_rotation! { $($test)+ }
    };
}
