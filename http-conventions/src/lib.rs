#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod audit;
mod byte_strings;
pub mod caching;
pub mod content;
pub mod cors;
mod digest;
pub mod errors;
pub mod forwarding;
mod hex;
mod http_date;
pub mod idempotency;
pub mod limits;
pub mod openapi;
pub mod paging;
pub mod patching;
pub mod pipeline;
pub mod ports;
pub mod retry;
pub mod routing;
mod structured;
pub mod tracing;
mod uri;
pub mod versions;

use host_ports::field;
use http::{HeaderMap, HeaderName, HeaderValue};

#[doc(inline)]
pub use self::{
    caching::{CacheControl, EntityTag, Preconditions, Validators},
    cors::CorsRules,
    errors::{ErrorStatus, Problem, ProblemBase},
    idempotency::Idempotency,
    limits::{Policy, Quota, RateLimiter, RetryAfter},
    paging::{Page, PageRules},
    patching::{Patch, PatchRules},
    pipeline::{Conventions, Exchange},
    routing::RequestId,
};

/// Value of a field that has exactly one line.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}
