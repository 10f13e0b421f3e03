//! Rate limits.

mod fields;
mod gcra;
mod limiter;
mod memory;
mod network;
mod policy;
mod quota;
mod store;

pub(crate) use self::fields::{PLAIN, PREFIXED};
pub use self::{
    fields::{HeaderProfile, RATE_LIMIT, RATE_LIMIT_POLICY},
    gcra::{RateLimitDecision, State, decide},
    limiter::{OnStoreFailure, QUOTA_EXCEEDED, RateLimiter, Standings},
    memory::MemoryRateLimitStore,
    network::client_network,
    policy::{BucketKey, InvalidPolicyName, Operation, Policy, Spend},
    quota::{InvalidQuota, Quota},
    store::{RateLimitStore, decide_all},
};
