//! Named quotas, and the costs of requests.

use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::{
    Quota,
    gcra::{LARGEST_SKEW, nanoseconds},
};
use crate::{byte_strings::byte_string, digest::LengthPrefixed as _};

const LONGEST_NAME: usize = 64;

/// A quota with a name, which is part of the rate-limit fields and of every bucket key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Policy {
    name: Box<str>,
    quota: Quota,
    /// Hash of the name, computed once.
    tag: u64,
}

impl Policy {
    /// Creates a policy. The name has 1 to 64 letters, digits, dots, hyphens and underscores.
    ///
    /// # Errors
    ///
    /// [`InvalidPolicyName`] for any other name.
    pub fn new(name: impl Into<Box<str>>, quota: Quota) -> Result<Self, InvalidPolicyName> {
        let name = name.into();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        match (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_plain) {
            true => Ok(Self {
                tag: tag(&name),
                name,
                quota,
            }),
            false => Err(InvalidPolicyName),
        }
    }

    /// Name of the policy.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Quota of the policy.
    #[must_use]
    pub const fn quota(&self) -> &Quota {
        &self.quota
    }

    pub(super) const fn tag(&self) -> u64 {
        self.tag
    }

    /// Creates a spend of one unit from the bucket of a partition, such as a principal, an address
    /// or a tenant.
    ///
    /// # Security
    ///
    /// A caller must not be able to choose the partition for each request. Use an authenticated
    /// principal, or the address of the connection, truncated by
    /// [`client_network`](super::client_network). Never use a header that any client can send.
    #[must_use]
    pub const fn spend<'a>(&'a self, partition: &'a str) -> Spend<'a> {
        Spend {
            policy: self,
            partition,
            cost: 1,
        }
    }
}

/// First 64 bits of the SHA-256 of a name. The host chooses the names, so an attacker cannot cause
/// collisions.
fn tag(name: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(name).into();
    digest
        .iter()
        .take(8)
        .fold(0, |tag, byte| tag << 8 | u64::from(*byte))
}

/// Cost of a request in one bucket. A spend is plain data, so a shared store can process all spends
/// of a request in one step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spend<'a> {
    policy: &'a Policy,
    partition: &'a str,
    cost: u32,
}

impl<'a> Spend<'a> {
    /// Sets the cost in units of the quota, default 1. A cost above the burst counts as the burst.
    #[must_use]
    pub const fn with_cost(mut self, cost: u32) -> Self {
        self.cost = cost;
        self
    }

    /// Policy of the bucket.
    #[must_use]
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Partition that owns the bucket.
    #[must_use]
    pub const fn partition(&self) -> &'a str {
        self.partition
    }

    /// Cost in units of the quota.
    #[must_use]
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    /// Key of the bucket in a shared store.
    #[must_use]
    pub fn bucket(&self) -> BucketKey {
        let digest = Sha256::new_with_prefix(b"rate limit bucket 1")
            .chain_field(self.policy.name.as_bytes())
            .chain_field(self.partition.as_bytes());
        BucketKey::from_bytes(digest.finalize().into())
    }

    /// Computes the inputs of the decision at `now`, for a store that decides in a script or an SQL
    /// statement.
    #[must_use]
    pub fn operation(&self, now: SystemTime) -> Operation {
        let now = nanoseconds(now);
        let latest = now.saturating_add(self.policy.quota.capacity());
        Operation {
            bucket: self.bucket(),
            now,
            increment: self.policy.quota.increment(self.cost),
            latest,
            horizon: latest.saturating_add(LARGEST_SKEW),
        }
    }
}

/// Inputs of [`decide`](super::decide) as numbers, for a store that decides in a script or an SQL
/// statement.
///
/// All numbers are nanoseconds since 1970 as in [`State`](super::State), and below 2^63.
///
/// # Contract
///
/// - `from` is the larger of the stored state and `now`. If the stored state is larger than
///   `horizon`, `from` is `now`.
/// - The request passes if `from + increment` is at most `latest`.
/// - The state after a request that passes is `from + increment`. A refused request changes no
///   state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Operation {
    /// Key of the bucket.
    pub bucket: BucketKey,
    /// Time of the request.
    pub now: u64,
    /// Cost of the request in nanoseconds.
    pub increment: u64,
    /// Latest state with which the request passes.
    pub latest: u64,
    /// Latest valid state. A later state was written before the clock was set back.
    pub horizon: u64,
}

byte_string! {
    /// Key of a bucket: SHA-256 over the policy name and the partition. A shared store sees neither
    /// the partition nor its length.
    #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub struct BucketKey(32);
}

/// Error for a policy name that is empty, longer than 64 bytes, or contains a character other than
/// letters, digits, dots, hyphens and underscores.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid policy name")]
pub struct InvalidPolicyName;
