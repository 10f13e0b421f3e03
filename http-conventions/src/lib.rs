#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod additive;
pub mod allow;
pub mod audit;
mod byte_strings;
pub mod cache_control;
pub mod conditional;
pub mod content;
pub mod cors;
mod digest;
mod field;
mod http_date;
pub mod idempotency;
pub mod lifecycle;
pub mod links;
pub mod location;
pub mod method;
pub mod negotiation;
pub mod openapi;
pub mod pagination;
pub mod path_rules;
pub mod pipeline;
pub mod ports;
pub mod problem;
pub mod rate_limit;
pub mod redirect;
pub mod request_id;
pub mod retry;
pub mod retry_after;
pub mod size_limits;
mod uri;
pub mod vary;
pub mod version;

use http::{HeaderMap, HeaderName, HeaderValue};

/// The value of a field that is sent on exactly one line.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}
