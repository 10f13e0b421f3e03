//! Sender, from the accepted event to the settled delivery.

mod addresses;
mod at_rest;
mod clocks;
mod content;
mod deadlines;
mod endpoints;
mod failing;
mod fixture;
mod health;
mod host;
mod inspection;
mod instances;
mod kit;
mod leases;
mod metrics;
mod neighbours;
mod operational;
mod outages;
mod panics;
mod quarantine;
mod requests;
mod retries;
mod running;
mod skew;
mod stuck;
mod tenants;
mod trace;
mod unwritten;
mod writing;

mod memory_outbox {
    webhook_core_conformance::outbox!(
        #[tokio::test]
        webhook_core::memory::MemoryOutbox::default()
    );
}

mod memory_retention {
    webhook_core_conformance::retention!(
        #[tokio::test]
        webhook_core::memory::MemoryOutbox::default()
    );
}

mod memory_endpoints {
    webhook_core_conformance::endpoint_store!(
        #[tokio::test]
        webhook_core::memory::MemoryEndpoints::default()
    );
    webhook_core_conformance::endpoint_management!(
        #[tokio::test]
        webhook_core::memory::MemoryEndpoints::default()
    );
}
