#![doc = include_str!("../README.md")]

pub mod claims;
pub mod dedupe_store;
pub mod endpoint_management;
pub mod endpoint_store;
pub mod inbox_failures;
pub mod inbox_in_transaction;
pub mod inbox_store;
mod incoming;
pub mod latest_seen;
pub mod outbox;
pub mod retention;
pub mod sealer;
pub mod simulation;

#[doc(hidden)]
pub use host_ports_conformance::__store;
#[doc(hidden)]
pub use outbox::{
    bulkhead as outbox_bulkhead, enqueue as outbox_enqueue, health as outbox_health,
    inspect as outbox_inspect, instance as outbox_instance, lease as outbox_lease, missing as outbox_missing,
    settle as outbox_settle, tenants as outbox_tenants,
};

/// Creates a test for each case of [`Outbox`](webhook_core::sender::Outbox):
/// `outbox!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! outbox {
    ($($test:tt)+) => {
        $crate::outbox_bulkhead! { $($test)+ }
        $crate::outbox_enqueue! { $($test)+ }
        $crate::outbox_health! { $($test)+ }
        $crate::outbox_inspect! { $($test)+ }
        $crate::outbox_instance! { $($test)+ }
        $crate::outbox_lease! { $($test)+ }
        $crate::outbox_missing! { $($test)+ }
        $crate::outbox_settle! { $($test)+ }
        $crate::outbox_tenants! { $($test)+ }
    };
}
