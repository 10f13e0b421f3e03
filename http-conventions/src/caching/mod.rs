//! Caching: `Cache-Control`, validators and preconditions, `Vary`.
//!
//! # Cache-Control
//!
//! `Cache-Control`, [RFC 9111 §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2): the forms a resource-style API sends.
//!
//! Each constructor is one whole policy, so contradictions such as `no-store, max-age=60` cannot be written.
//!
//! ```
//! use std::time::Duration;
//!
//! use http_conventions::caching::CacheControl;
//!
//! assert_eq!(CacheControl::public(Duration::from_secs(60)).header_value(), "public, max-age=60");
//! assert_eq!(CacheControl::private_no_store().header_value(), "private, no-store");
//! ```
//!
//! # Conditional requests
//!
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
//! use http_conventions::caching::{not_modified, PreconditionDecision, EntityTag, Preconditions, Validators};
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let current = Validators::default().with_entity_tag(EntityTag::of_content(b"{\"amount\":1000}"));
//! let mut answer = HeaderMap::new();
//! current.apply(&mut answer);
//!
//! // a read that already has this state
//! let mut read = HeaderMap::new();
//! read.insert(IF_NONE_MATCH, answer[ETAG].clone());
//! assert_eq!(Preconditions::new(&Method::GET, &read, now).evaluate(Some(&current)), PreconditionDecision::NotModified);
//! assert_eq!(not_modified(answer).status(), 304);
//!
//! // a write that was made for another state
//! let mut write = HeaderMap::new();
//! write.insert(IF_MATCH, "\"an-older-state\"".parse()?);
//! assert_eq!(Preconditions::new(&Method::PUT, &write, now).evaluate(Some(&current)), PreconditionDecision::PreconditionFailed);
//! # Ok::<(), http::header::InvalidHeaderValue>(())
//! ```
//!
//! The host must check and write in one step of its own store (compare the tag in the `UPDATE`): between a
//! [`PreconditionDecision::Proceed`] and the write somebody else may have written.
//!
//! A host that compresses answers gives each coding its tag by [`Validators::in_coding`], and lets writes name any of them by
//! [`Validators::with_codings`]; one that serves ranges asks [`Preconditions::takes_range`].
//!
//! # Vary
//!
//! `Vary`, [RFC 9110 §12.5.5](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.5): what of a request had a say in the answer.
//!
//! Collected while the request is looked at, and set on whatever answer comes of it: the 304, the 406 and every error too, as
//! another request might have got another.
//!
//! ```
//! use http::{HeaderMap, header};
//! use http_conventions::caching::Vary;
//!
//! let mut vary = Vary::default();
//! vary.add(header::ACCEPT_LANGUAGE);
//! vary.add(header::ACCEPT);
//!
//! let mut headers = HeaderMap::new();
//! headers.insert(header::VARY, "accept, x-tenant".parse()?);
//! vary.apply(&mut headers);
//! assert_eq!(headers["vary"], "accept, x-tenant, accept-language");
//! # Ok::<(), http::header::InvalidHeaderValue>(())
//! ```

pub(crate) mod cache_control;
pub(crate) mod conditional;
pub(crate) mod vary;

pub use self::{
    cache_control::CacheControl,
    conditional::{
        EntityTag, InvalidEntityTag, PreconditionDecision, Preconditions, Validators, not_modified,
    },
    vary::Vary,
};
