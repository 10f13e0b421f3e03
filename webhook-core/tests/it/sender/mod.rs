//! The sending side, from the accepted event to the settled delivery.

mod addresses;
mod at_rest;
mod endpoints;
mod failing;
mod fixture;
mod health;
mod host;
mod inspection;
mod kit;
mod leases;
mod neighbours;
mod outages;
mod panics;
mod quarantine;
mod requests;
mod retries;
mod running;
mod unwritten;
mod writing;

mod memory_outbox {
    webhook_core::testing::outbox!(
        #[tokio::test]
        webhook_core::memory::MemoryOutbox::default()
    );
}

mod memory_retention {
    webhook_core::testing::retention!(
        #[tokio::test]
        webhook_core::memory::MemoryOutbox::default()
    );
}

mod memory_endpoints {
    webhook_core::testing::endpoint_store!(
        #[tokio::test]
        webhook_core::memory::MemoryEndpoints::default()
    );
}
