//! Caching: `Cache-Control`, entity tags, preconditions, 304 and `Vary`.
//!
//! # Cache-Control
//!
//! The directives of `Cache-Control` in responses, [RFC 9111
//! §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2), for an API of resources.
//!
//! Each constructor of [`CacheControl`] is one complete policy, so contradictions such as
//! `no-store, max-age=60` cannot be expressed.
//!
//! The [pipeline](crate::pipeline) keeps the policy of a handler. Without one, a read with `ETag`
//! or `Last-Modified` is `private, no-cache`: a cache of the user keeps the response and
//! revalidates it before each use. `no-store` would make the validator useless, and no field at all
//! would allow heuristic freshness ([RFC 9111
//! §4.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.2)).
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
//! Conditional requests, [RFC 9110 §13](https://www.rfc-editor.org/rfc/rfc9110#section-13): entity
//! tags, the preconditions of reads and writes, and 304 responses.
//!
//! The host authenticates and validates the request, loads the current state of the resource, and
//! evaluates [`Preconditions`] before it acts. A request that would fail without its preconditions
//! is refused without evaluating them.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use http::{
//!     HeaderMap, Method,
//!     header::{ETAG, IF_MATCH, IF_NONE_MATCH},
//! };
//! use http_conventions::caching::{
//!     EntityTag, PreconditionDecision, Preconditions, Validators, not_modified,
//! };
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let current =
//!     Validators::default().with_entity_tag(EntityTag::of_content(b"{\"amount\":1000}"));
//! let mut answer = HeaderMap::new();
//! current.apply(&mut answer);
//!
//! // a read that already has this state
//! let mut read = HeaderMap::new();
//! read.insert(IF_NONE_MATCH, answer[ETAG].clone());
//! assert_eq!(
//!     Preconditions::new(&Method::GET, &read, now).evaluate(Some(&current)),
//!     PreconditionDecision::NotModified
//! );
//! assert_eq!(not_modified(answer).status(), 304);
//!
//! // a write that was made for another state
//! let mut write = HeaderMap::new();
//! write.insert(IF_MATCH, "\"an-older-state\"".parse()?);
//! assert_eq!(
//!     Preconditions::new(&Method::PUT, &write, now).evaluate(Some(&current)),
//!     PreconditionDecision::PreconditionFailed
//! );
//! # Ok::<(), http::header::InvalidHeaderValue>(())
//! ```
//!
//! # Contract
//!
//! - The host checks the state and writes it in one atomic step of its store, for example by
//!   comparing the tag in the `UPDATE`. Otherwise another request can write between
//!   [`PreconditionDecision::Proceed`] and the write.
//! - A host that compresses responses derives the tag of each coding with
//!   [`Validators::in_coding`], and accepts these tags from writes with
//!   [`Validators::with_codings`].
//! - A host that serves ranges calls [`Preconditions::answer_ranges`] or
//!   [`Preconditions::plan_ranges`].
//!
//! # Vary
//!
//! `Vary`, [RFC 9110 §12.5.5](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.5): the request
//! fields that a response depends on.
//!
//! The host adds each field that it evaluates. It sets `Vary` on every response, including a 304, a
//! 406 and every other error, because another request could get a different response.
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
