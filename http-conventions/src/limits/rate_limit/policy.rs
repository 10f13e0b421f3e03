//! Named quotas, and what a request takes from them.

use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::{
    Quota,
    gcra::{LARGEST_SKEW, nanoseconds},
};
use crate::{byte_strings::byte_string, digest::LengthPrefixed as _};

const LONGEST_NAME: usize = 64;

/// A quota with the name that clients read: what is counted apart from what.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Policy {
    name: Box<str>,
    quota: Quota,
    /// Stands for the name where it is hashed for each request.
    tag: u64,
}

impl Policy {
    /// A quota under this name: 1 to 64 letters, digits, dots, hyphens and underscores. The name is part of every bucket's.
    ///
    /// # Errors
    ///
    /// When the name has another form.
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

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The quota.
    #[must_use]
    pub const fn quota(&self) -> &Quota {
        &self.quota
    }

    pub(super) const fn tag(&self) -> u64 {
        self.tag
    }

    /// One request of this partition: of a principal, an address, a tenant, whatever the policy counts by.
    ///
    /// # Security
    ///
    /// The partition must be something that a caller cannot choose anew for each request: a principal from authentication, or
    /// the address of the peer (an IPv6 address cut to its /64, [`client_network`](super::client_network)); never a header that
    /// anybody can send.
    #[must_use]
    pub const fn spend<'a>(&'a self, partition: &'a str) -> Spend<'a> {
        Spend {
            policy: self,
            partition,
            cost: 1,
        }
    }
}

/// The first 64 bits of a SHA-256: the names are the host's own, so that nobody looks for two that share them.
fn tag(name: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(name).into();
    digest
        .iter()
        .take(8)
        .fold(0, |tag, byte| tag << 8 | u64::from(*byte))
}

/// What a request takes from one bucket. Plain data, so that a store elsewhere can do all of them in one step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spend<'a> {
    policy: &'a Policy,
    partition: &'a str,
    cost: u32,
}

impl<'a> Spend<'a> {
    /// With this cost in units of the quota, one unless said otherwise. More than the burst is the burst.
    #[must_use]
    pub const fn with_cost(mut self, cost: u32) -> Self {
        self.cost = cost;
        self
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Whose bucket it is.
    #[must_use]
    pub const fn partition(&self) -> &'a str {
        self.partition
    }

    /// The cost in units of the quota.
    #[must_use]
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    /// The name of the bucket in a store that others see.
    #[must_use]
    pub fn bucket(&self) -> BucketKey {
        let digest = Sha256::new_with_prefix(b"rate limit bucket 1")
            .chain_field(self.policy.name.as_bytes())
            .chain_field(self.partition.as_bytes());
        BucketKey::from_bytes(digest.finalize().into())
    }

    /// The spend as plain numbers at this time, for a store that does it elsewhere.
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

/// What [`decide`](super::decide) does, in numbers that a script or a statement elsewhere can add and compare: nanoseconds since
/// 1970 as in a [`State`](super::State), all below 2^63.
///
/// With `from` the larger of the state and `now`, or `now` where the state is larger than `horizon`, the request passes if
/// `from + increment` is at most `latest`, and is the state after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Operation {
    /// Whose bucket it is.
    pub bucket: BucketKey,
    /// The time of the request.
    pub now: u64,
    /// What the request takes.
    pub increment: u64,
    /// The latest state there may be after it.
    pub latest: u64,
    /// A state beyond this is of a clock that was set back.
    pub horizon: u64,
}

byte_string! {
    /// The name of a bucket: SHA-256 over policy and partition. Shared stores never see who it is, nor how long a name they sent.
    #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub struct BucketKey(32);
}

/// The name is empty, too long, or has other characters than letters, digits, dots, hyphens and underscores.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid policy name")]
pub struct InvalidPolicyName;
