//! When a client sends a request again, and after how long: pure, so that the client keeps its own timer and transport.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use http::{HeaderMap, Method, StatusCode, header};
//! use http_conventions::{ports::OsEntropy, retry::{Outcome, RetryPolicy, Tried, Verdict}};
//!
//! let policy = RetryPolicy::default();
//! let mut answer = HeaderMap::new();
//! answer.insert(header::RETRY_AFTER, "2".parse()?);
//! let outcome = Outcome::Answered { status: StatusCode::SERVICE_UNAVAILABLE, headers: &answer, problem: None };
//!
//! let request = HeaderMap::new();
//! let read = Tried::new(&Method::GET, &request, 1);
//! let Verdict::Retry(wait) = policy.decide(read, outcome, SystemTime::UNIX_EPOCH, &OsEntropy) else { panic!() };
//! assert!(wait >= Duration::from_secs(2));
//!
//! // nobody knows whether the first took effect
//! let write = Tried::new(&Method::POST, &request, 1);
//! assert!(!matches!(policy.decide(write, outcome, SystemTime::UNIX_EPOCH, &OsEntropy), Verdict::Retry(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asked_wait;
mod budget;
mod policy;

pub use self::{
    asked_wait::asked_wait,
    budget::RetryBudget,
    policy::{GiveUp, Outcome, RetryPolicy, Tried, Verdict},
};
