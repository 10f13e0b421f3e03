//! Rate-limit header fields of responses.

use std::{
    fmt::Write as _,
    time::{Duration, SystemTime},
};

use http::{HeaderName, HeaderValue};

use super::{
    Policy, Spend, State,
    gcra::{Standing, nanoseconds},
};

/// `RateLimit-Policy`: the policies that apply.
pub const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// `RateLimit`: the remaining quota of each policy.
pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Names of the fields for limit, remaining units and reset time, as in older drafts.
pub(crate) const PLAIN: [HeaderName; 3] = [
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];
/// The same names with the prefix `X-`, as GitHub sends them.
pub(crate) const PREFIXED: [HeaderName; 3] = [
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

/// Set of rate-limit header fields to send; [`and`](Self::and) combines two sets.
///
/// | profile | fields | time format |
/// |---|---|---|
/// | [`STRUCTURED`](Self::STRUCTURED) | `RateLimit-Policy: "user";q=100;w=60`, `RateLimit: "user";r=99;t=1` | seconds |
/// | [`UNIX`](Self::UNIX) | `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset` | Unix time |
/// | [`X_UNIX`](Self::X_UNIX) | `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset` | Unix time |
/// | [`NONE`](Self::NONE) | none | |
///
/// The structured fields are those of [draft-ietf-httpapi-ratelimit-headers-11]; `t` is the time
/// until the next unit is available. The profiles `UNIX` and `X_UNIX` describe only the policy with
/// the smallest remaining share of its burst. Their first field is the limit of that policy, or its
/// burst if that is larger; their last field is the time at which its bucket is full. Older drafts
/// define `RateLimit-Reset` in seconds, so document the profile for your clients.
///
/// [draft-ietf-httpapi-ratelimit-headers-11]: https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HeaderProfile(u8);

impl HeaderProfile {
    /// No fields. A 429 still has `Retry-After`.
    pub const NONE: Self = Self(0);
    /// The structured fields of the draft.
    pub const STRUCTURED: Self = Self(1);
    /// Three fields without a prefix, the last in Unix time.
    pub const UNIX: Self = Self(2);
    /// Three fields with the prefix `X-`, the last in Unix time, as GitHub sends them.
    pub const X_UNIX: Self = Self(4);

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Names of the fields of this profile.
    pub(crate) fn names(self) -> Vec<HeaderName> {
        let mut names = Vec::new();
        if self.has(Self::STRUCTURED) {
            names.extend([RATE_LIMIT_POLICY, RATE_LIMIT]);
        }
        for (triple, kind) in [(PLAIN, Self::UNIX), (PREFIXED, Self::X_UNIX)] {
            if self.has(kind) {
                names.extend(triple);
            }
        }
        names
    }
}

impl Default for HeaderProfile {
    /// All three profiles, so that every client finds the fields that it supports.
    fn default() -> Self {
        Self::STRUCTURED.and(Self::UNIX).and(Self::X_UNIX)
    }
}

/// Header fields for the current state of each policy.
pub(super) fn fields(
    profile: HeaderProfile,
    spends: &[Spend<'_>],
    states: &[State],
    now: SystemTime,
) -> Vec<(HeaderName, HeaderValue)> {
    let now = nanoseconds(now);
    let standings: Vec<(&Policy, Standing)> = spends
        .iter()
        .zip(states)
        .map(|(spend, state)| (spend.policy(), Standing::of(*state, spend.policy().quota(), now)))
        .collect();
    let mut fields = Vec::new();
    if profile.has(HeaderProfile::STRUCTURED) {
        fields.extend(text(RATE_LIMIT_POLICY, &policies(&standings)));
        fields.extend(text(RATE_LIMIT, &limits(&standings)));
    }
    for (names, kind) in [(PLAIN, HeaderProfile::UNIX), (PREFIXED, HeaderProfile::X_UNIX)] {
        if profile.has(kind) {
            fields.extend(triple(names, &standings));
        }
    }
    fields
}

/// Returns `true` if several lines of the field form one list.
pub(super) fn is_list(name: &HeaderName) -> bool {
    *name == RATE_LIMIT || *name == RATE_LIMIT_POLICY
}

fn text(name: HeaderName, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((name, HeaderValue::try_from(value).ok()?))
}

/// Value of `RateLimit-Policy`, such as `"burst";q=100;w=60,"daily";q=1000;w=86400`. `w` is omitted
/// if the period is not a whole number of seconds.
fn policies(standings: &[(&Policy, Standing)]) -> String {
    list(standings, |field, (policy, _)| {
        let quota = policy.quota();
        write!(field, "\"{}\";q={}", policy.name(), quota.limit())?;
        match quota.period() {
            period if period.subsec_nanos() == 0 => write!(field, ";w={}", period.as_secs()),
            _ => Ok(()),
        }
    })
}

/// Value of `RateLimit`, such as `"default";r=50;t=30`.
fn limits(standings: &[(&Policy, Standing)]) -> String {
    list(standings, |field, (policy, standing)| {
        let (name, left) = (policy.name(), standing.remaining);
        write!(field, "\"{name}\";r={left};t={}", up(standing.next))
    })
}

fn list<T>(items: &[T], write: impl Fn(&mut String, &T) -> std::fmt::Result) -> String {
    let mut field = String::with_capacity(32 * items.len());
    for item in items {
        if !field.is_empty() {
            field.push_str(", ");
        }
        // writing to a string cannot fail
        if write(&mut field, item).is_err() {
            break;
        }
    }
    field
}

/// Fields of the policy with the smallest remaining share of its burst.
fn triple(names: [HeaderName; 3], standings: &[(&Policy, Standing)]) -> Vec<(HeaderName, HeaderValue)> {
    let share = |(policy, standing): &&(&Policy, Standing)| {
        u64::from(standing.remaining) * u64::from(u32::MAX) / u64::from(policy.quota().burst())
    };
    let Some((policy, standing)) = standings.iter().min_by_key(share) else {
        return Vec::new();
    };
    let values = [
        // clients expect at most this number in the next field
        policy.quota().limit().max(policy.quota().burst()).into(),
        standing.remaining.into(),
        up(Duration::from_nanos(standing.full_at)),
    ];
    names.into_iter().zip(values.map(HeaderValue::from)).collect()
}

/// Rounds up to whole seconds.
fn up(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}
