//! Behaviour of the public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod additive;
mod audit;
mod audit_clean;
mod challenges;
mod cors;
mod entity_tags;
mod idempotency;
mod idempotency_failures;
mod idempotency_fixture;
mod idempotency_records;
mod idempotency_store_down;
mod links;
mod locations;
mod methods;
mod negotiation;
mod pages;
mod pagination;
mod paths;
mod pipeline;
mod pipeline_fixture;
mod pipeline_order;
mod pipeline_rules;
mod pipeline_stores;
mod preconditions;
mod problems;
mod ranges_and_codings;
mod rate_limit_kit;
mod rate_limits;
mod request_ids;
mod retries;
mod size_limits;
mod store_kit;
mod varies;
mod versions;
mod walks;
