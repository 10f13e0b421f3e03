//! Limits: rate limits, concurrency, deadlines and `Retry-After`.
//!
//! # Rate limits
//!
//! A rate limit allows a number of requests per period. A refused client learns when it may retry.
//!
//! A [`Policy`] is a named [`Quota`]. Each partition, such as a user or an address, has a bucket
//! under each policy. A request [spends](Policy::spend) units of one or more buckets.
//! [`RateLimiter::check`] takes from all of them in one atomic step of the [`RateLimitStore`], or
//! from none. The response carries the remaining quota in the header fields of a [`HeaderProfile`].
//! A refusal is a 429 [`Problem`](crate::errors::Problem) with `Retry-After`.
//!
//! A bucket is stored as one integer ([`State`]) of the generic cell rate algorithm (GCRA). The
//! pure function [`decide`] computes the next state.
//!
//! ```
//! use http_conventions::ports::SystemClock;
//! use std::time::Duration;
//!
//! use http_conventions::limits::{
//!     MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter,
//! };
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
//! let standings = limiter
//!     .check(&spends)
//!     .await
//!     .expect("the first request passes");
//! let mut headers = http::HeaderMap::new();
//! standings.apply(&mut headers);
//! assert_eq!(
//!     headers["ratelimit-policy"],
//!     r#""address";q=300;w=60, "user";q=60;w=60"#
//! );
//! assert_eq!(
//!     headers["ratelimit"],
//!     r#""address";r=299;t=1, "user";r=0;t=1"#
//! );
//!
//! let refused = limiter
//!     .check(&spends)
//!     .await
//!     .expect_err("the burst is 1")
//!     .into_response();
//! assert_eq!(refused.status(), 429);
//! assert_eq!(refused.headers()["retry-after"], "1");
//! # Ok(())
//! # }
//! ```
//!
//! # Contract
//!
//! - Limit by address before authentication and by principal after it. Otherwise an unauthenticated
//!   caller can use up the quota of another user.
//! - Take addresses from the connection or from a trusted proxy, and truncate them with
//!   [`client_network`].
//!
//! # Concurrency and overload
//!
//! A [`ConcurrencyLimit`] counts the requests in progress and refuses further ones at once. It also
//! sheds load: by Little's law the number in progress is the rate of requests times their duration,
//! so a service that becomes slow reaches the limit at a lower rate. A limit that adapts to
//! measured latencies would need a target for each route, and is misled by a change of the
//! requests.
//!
//! [Reserved](ConcurrencyLimit::with_reserve) permits let health checks and keyed writes pass when
//! other requests are already refused. [`CallerConcurrency`] keeps one caller from using all
//! permits.
//!
//! ```
//! use http_conventions::limits::{CallerConcurrency, ConcurrencyLimit, Priority};
//!
//! let server = ConcurrencyLimit::new(2).with_reserve(1);
//! let list = server.acquire(Priority::Ordinary).expect("nothing is in progress");
//! let refused = server.acquire(Priority::Ordinary).expect_err("the rest is reserved");
//! assert_eq!(refused.status(), 503);
//! assert!(server.acquire(Priority::High).is_ok());
//! drop(list);
//! assert!(server.acquire(Priority::Ordinary).is_ok());
//!
//! let users = CallerConcurrency::new(1);
//! let _first = users.acquire("user-7").expect("nothing is in progress");
//! assert_eq!(users.acquire("user-7").expect_err("the limit is 1").status(), 429);
//! assert!(users.acquire("user-8").is_ok());
//! ```
//!
//! # Deadlines
//!
//! A [`Deadline`] bounds the time of a request. See
//! [`Exchange::with_deadline`](crate::pipeline::Exchange::with_deadline) for unsafe methods, whose
//! work is not stopped half-way.
//!
//! ```
//! use std::{future::{pending, ready}, time::Duration};
//!
//! use http_conventions::{limits::Deadline, ports::timer_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let sleep = |_| ready(());
//! # /*
//! let timer = timer_fn(tokio::time::sleep);
//! # */
//! # let timer = timer_fn(sleep);
//! let deadline = Deadline::new(timer, Duration::from_secs(10));
//! assert_eq!(deadline.bound(async { 7 }).await.ok(), Some(7));
//!
//! let late = deadline.bound(pending::<()>()).await.expect_err("it never ends");
//! assert_eq!(late.status(), 503);
//! assert_eq!(late.into_response().headers()["retry-after"], "1");
//! # }
//! ```
//!
//! # Retry-After
//!
//! `Retry-After`, [RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3): the
//! time that the client waits before the next request.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http_conventions::limits::RetryAfter;
//!
//! // at least 1 second
//! assert_eq!(RetryAfter::new(Duration::from_millis(300)).header_value(), "1");
//!
//! // seconds and dates
//! let now = SystemTime::UNIX_EPOCH;
//! assert_eq!(RetryAfter::parse(b"120", now)?, Duration::from_secs(120));
//! assert_eq!(RetryAfter::parse(b"Thu, 01 Jan 1970 00:01:00 GMT", now)?, Duration::from_secs(60));
//! # Ok::<(), http_conventions::limits::InvalidRetryAfter>(())
//! ```

mod concurrency;
mod deadline;
pub(crate) mod rate_limit;
pub(crate) mod retry_after;

pub use self::{
    concurrency::{CallerConcurrency, ConcurrencyLimit, ConcurrencyPermit, Priority},
    deadline::Deadline,
    rate_limit::{
        BucketKey, HeaderProfile, InvalidPolicyName, InvalidQuota, MemoryRateLimitStore, OnStoreFailure,
        Operation, Policy, QUOTA_EXCEEDED, Quota, RATE_LIMIT, RATE_LIMIT_POLICY, RateLimitDecision,
        RateLimitStore, RateLimiter, Spend, Standings, State, client_network, decide, decide_all,
    },
    retry_after::{InvalidRetryAfter, RetryAfter},
};
