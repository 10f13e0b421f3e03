//! Limits: rate limits and `Retry-After`.
//!
//! # Rate limits
//!
//! Rate limits: so much in a period, and when to come back.
//!
//! A [`Policy`] is a [`Quota`] with a name. A request [spends](Policy::spend) from the buckets of its callers, and
//! [`RateLimiter::check`] takes from all of them in one atomic step of the [`RateLimitStore`], or from none. What is left goes to
//! the client in the words of a [`HeaderProfile`]; a refusal is a 429 with `Retry-After`, as a
//! [`Problem`](crate::errors::Problem) that the host completes.
//!
//! A bucket is one integer ([`State`], the generic cell rate algorithm), and [`decide`] a pure function of it.
//!
//! ```
//! use http_conventions::ports::SystemClock;
//! use std::time::Duration;
//!
//! use http_conventions::limits::{MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! const MINUTE: Duration = Duration::from_secs(60);
//! let address = Policy::new("address", Quota::per(300, MINUTE)?)?;
//! let user = Policy::new("user", Quota::per(60, MINUTE)?.with_burst(1)?)?;
//! let store = MemoryRateLimitStore::default();
//! let limiter = RateLimiter::new(store, SystemClock, OnStoreFailure::FailClosed);
//!
//! let spends = [address.spend("203.0.113.7"), user.spend("user-7")];
//! let standings = limiter.check(&spends).await.expect("the first request passes");
//! let mut headers = http::HeaderMap::new();
//! standings.apply(&mut headers);
//! assert_eq!(headers["ratelimit-policy"], r#""address";q=300;w=60, "user";q=60;w=60"#);
//! assert_eq!(headers["ratelimit"], r#""address";r=299;t=1, "user";r=0;t=1"#);
//!
//! let refused = limiter.check(&spends).await.expect_err("one at a time").into_response();
//! assert_eq!(refused.status(), 429);
//! assert_eq!(refused.headers()["retry-after"], "1");
//! # Ok(())
//! # }
//! ```
//!
//! ## What the host must do
//!
//! - Limit by address before authentication, and by principal after it: before, a stranger could spend what is another's.
//! - Take addresses from the connection, or from a proxy of its own, and cut them with [`client_network`].
//!
//! # Retry-After
//!
//! `Retry-After`, [RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3): how long to stay away.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http_conventions::limits::RetryAfter;
//!
//! // a server never says "come back at once"
//! assert_eq!(RetryAfter::new(Duration::from_millis(300)).header_value(), "1");
//!
//! // a client understands seconds and dates
//! let now = SystemTime::UNIX_EPOCH;
//! assert_eq!(RetryAfter::parse(b"120", now)?, Duration::from_secs(120));
//! assert_eq!(RetryAfter::parse(b"Thu, 01 Jan 1970 00:01:00 GMT", now)?, Duration::from_secs(60));
//! # Ok::<(), http_conventions::limits::InvalidRetryAfter>(())
//! ```

pub(crate) mod rate_limit;
pub(crate) mod retry_after;

pub use self::{
    rate_limit::{
        BucketKey, HeaderProfile, InvalidPolicyName, InvalidQuota, MemoryRateLimitStore, OnStoreFailure,
        Operation, Policy, QUOTA_EXCEEDED, Quota, RATE_LIMIT, RATE_LIMIT_POLICY, RateLimitDecision,
        RateLimitStore, RateLimiter, Spend, Standings, State, client_network, decide, passes,
    },
    retry_after::{InvalidRetryAfter, RetryAfter},
};
