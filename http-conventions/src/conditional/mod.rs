//! Conditional requests, [RFC 9110 §13](https://www.rfc-editor.org/rfc/rfc9110#section-13): entity tags, the preconditions
//! of reads and writes, and the 304.
//!
//! A host authenticates and validates the request, loads the current state of the resource, and asks [`Preconditions`]
//! before it acts. Preconditions do not count where the answer without them would be an error anyway.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use http::{HeaderMap, Method, header::{ETAG, IF_MATCH, IF_NONE_MATCH}};
//! use http_conventions::conditional::{Decision, EntityTag, Preconditions, Validators, not_modified};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let current = Validators::default().with_entity_tag(EntityTag::of_content(b"{\"amount\":1000}"));
//! let mut answer = HeaderMap::new();
//! current.apply(&mut answer);
//!
//! // a read that already has this state
//! let mut read = HeaderMap::new();
//! read.insert(IF_NONE_MATCH, answer[ETAG].clone());
//! assert_eq!(Preconditions::new(&Method::GET, &read, now).evaluate(Some(&current)), Decision::NotModified);
//! assert_eq!(not_modified(answer).status(), 304);
//!
//! // a write that was made for another state
//! let mut write = HeaderMap::new();
//! write.insert(IF_MATCH, "\"an-older-state\"".parse()?);
//! assert_eq!(Preconditions::new(&Method::PUT, &write, now).evaluate(Some(&current)), Decision::PreconditionFailed);
//! # Ok::<(), http::header::InvalidHeaderValue>(())
//! ```
//!
//! The host must check and write in one step of its own store (compare the tag in the `UPDATE`): between a
//! [`Decision::Proceed`] and the write somebody else may have written.
//!
//! A host that compresses answers gives each coding its tag by [`Validators::in_coding`], and lets writes name any of them by
//! [`Validators::with_codings`]; one that serves ranges asks [`Preconditions::takes_range`].

mod entity_tag;
mod field;
mod not_modified;
mod precondition;
mod range;
mod validators;

pub use self::{
    entity_tag::{EntityTag, InvalidEntityTag},
    not_modified::not_modified,
    precondition::{Decision, Preconditions},
    validators::Validators,
};
