//! Retry policy of a client: pure functions. The client brings its timer and transport.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http::{HeaderMap, Method, StatusCode, header};
//! use http_conventions::{
//!     ports::OsEntropy,
//!     retry::{Attempt, AttemptOutcome, RetryDecision, RetryPolicy},
//! };
//!
//! let policy = RetryPolicy::default();
//! let mut answer = HeaderMap::new();
//! answer.insert(header::RETRY_AFTER, "2".parse()?);
//! let outcome = AttemptOutcome::Response {
//!     status: StatusCode::SERVICE_UNAVAILABLE,
//!     headers: &answer,
//!     problem: None,
//! };
//!
//! let request = HeaderMap::new();
//! let read = Attempt::new(&Method::GET, &request, 1);
//! let RetryDecision::Retry(wait) =
//!     policy.decide(read, outcome, SystemTime::UNIX_EPOCH, &OsEntropy)
//! else {
//!     panic!()
//! };
//! assert!(wait >= Duration::from_secs(2));
//!
//! // the first attempt may have taken effect, and a POST is not idempotent
//! let write = Attempt::new(&Method::POST, &request, 1);
//! assert!(!matches!(
//!     policy.decide(write, outcome, SystemTime::UNIX_EPOCH, &OsEntropy),
//!     RetryDecision::Retry(_)
//! ));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod policy;
mod wait;

pub use self::{
    budget::RetryBudget,
    policy::{Attempt, AttemptOutcome, GiveUp, RetryDecision, RetryPolicy},
    wait::parse_wait,
};
