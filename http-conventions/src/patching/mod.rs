//! PATCH, [RFC 5789](https://www.rfc-editor.org/rfc/rfc5789), with JSON Merge Patch ([RFC
//! 7396](https://www.rfc-editor.org/rfc/rfc7396)) and JSON Patch ([RFC
//! 6902](https://www.rfc-editor.org/rfc/rfc6902)).
//!
//! [`Patch::parse`] reads both formats. [`Patch::apply_to`] changes a resource of the host: all of
//! the patch takes effect, or nothing.
//!
//! This handler changes a charge conditionally and once for each `Idempotency-Key`:
//!
//! ```
//! # use std::sync::Mutex;
//! # use bytes::Bytes;
//! # use http::{Request, Response};
//! # use http_conventions::{
//! #     Conventions, EntityTag, Idempotency, Problem, ProblemBase, Validators,
//! #     idempotency::{KeyScope, MemoryIdempotencyStore},
//! #     patching::{Patch, PatchRules},
//! #     pipeline::EarlyResponse,
//! #     ports::{OsEntropy, SystemClock},
//! # };
//! # use serde::{Deserialize, Serialize};
//! #[derive(Serialize, Deserialize)]
//! struct Charge {
//!     id: String,
//!     description: Option<String>,
//! }
//!
//! const RULES: PatchRules = PatchRules::new(&["/description"]);
//!
//! async fn change(
//!     conventions: &Conventions,
//!     request: &Request<Bytes>,
//!     stored: &Mutex<Charge>,
//! ) -> Result<Response<Bytes>, EarlyResponse> {
//!     let base = conventions.problems();
//!     let exchange = conventions.begin(request).admit(request)?.skip_rate_limit();
//!     let patch = Patch::parse(request.headers(), request.body());
//!     let patch = exchange.check(patch.map_err(|refusal| refusal.problem(base)))?;
//!     let preconditions = exchange.preconditions(request).with_required();
//!     let handler = async {
//!         let mut charge = stored.lock().expect("no handler panics");
//!         preconditions.check_write(Some(&validators(&charge)), base)?;
//!         *charge = patch.apply_to(&*charge, &RULES).map_err(|refusal| refusal.problem(base))?;
//!         Ok::<_, Problem>(Response::new(content(&charge)))
//!     };
//!     let scope = KeyScope::new("user-7", "/v1/charges/{id}");
//!     Ok(exchange.run(request, scope, handler).await)
//! }
//! # fn content(charge: &Charge) -> Bytes {
//! #     serde_json::to_vec(charge).expect("a charge is JSON").into()
//! # }
//! # fn validators(charge: &Charge) -> Validators {
//! #     Validators::default().with_entity_tag(EntityTag::of_content(&content(charge)))
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let base = "https://api.example.com/problems/";
//! # let store = MemoryIdempotencyStore::default();
//! # let idempotency = Idempotency::new(store, SystemClock, &OsEntropy, ProblemBase::new(base)?);
//! # let conventions = Conventions::builder(base, SystemClock, OsEntropy)
//! #     .with_idempotency(idempotency)
//! #     .build()?;
//! # let charge = Charge { id: "ch_1".to_owned(), description: None };
//! # let tag = EntityTag::of_content(&content(&charge)).header_value();
//! # let stored = Mutex::new(charge);
//! # let patch = Request::patch("/v1/charges/ch_1")
//! #     .header("content-type", "application/merge-patch+json")
//! #     .header("if-match", tag)
//! #     .header("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324")
//! #     .body(Bytes::from_static(br#"{"description": "tea"}"#))?;
//!
//! let first = change(&conventions, &patch, &stored).await.expect("a response");
//! assert_eq!(first.body(), r#"{"id":"ch_1","description":"tea"}"#);
//!
//! // the entity tag has changed, and a retry still gets the first response
//! let retry = change(&conventions, &patch, &stored).await.expect("a response");
//! assert_eq!(retry.body(), first.body());
//! assert_eq!(retry.headers()["idempotency-replayed"], "true");
//! # Ok(())
//! # }
//! ```
//!
//! # Statuses
//!
//! [RFC 5789 §2.2](https://www.rfc-editor.org/rfc/rfc5789#section-2.2), to which [RFC 6902
//! §5](https://www.rfc-editor.org/rfc/rfc6902#section-5) refers, assigns the statuses:
//!
//! | status | cause |
//! |---|---|
//! | 400 | the content is not JSON, or not a patch |
//! | 409 | a `test` failed, or a location does not exist: the patch conflicts with the state |
//! | 412, 428 | a precondition failed or is missing, see [`Preconditions`](crate::caching::Preconditions) |
//! | 415 with `Accept-Patch` | another format |
//! | 422 | the result would be invalid: wrong types, read-only members, too large |
//!
//! # Accept-Patch
//!
//! A resource that supports PATCH announces the formats in its response to OPTIONS ([RFC 5789
//! §3.1](https://www.rfc-editor.org/rfc/rfc5789#section-3.1)). The 405 to another method may name
//! them too.
//!
//! ```
//! use http::Method;
//! use http_conventions::{errors::Problem, patching, routing::Allow};
//!
//! let allow = Allow::of(&[Method::GET, Method::PATCH]);
//! let mut options = allow.no_content();
//! options.headers_mut().insert(patching::ACCEPT_PATCH, patching::accept_patch());
//!
//! let refused = Problem::method_not_allowed(allow)
//!     .with_header(patching::ACCEPT_PATCH, patching::accept_patch())
//!     .into_response();
//! assert_eq!(options.headers()["accept-patch"], refused.headers()["accept-patch"]);
//! ```

mod apply;
mod merge;
mod operation;
mod patch;
mod pointer;
mod refusal;
mod rules;

pub(crate) use self::{
    operation::MOST_OPERATIONS,
    patch::{JSON_PATCH, MERGE_PATCH},
};
pub use self::{
    patch::{ACCEPT_PATCH, Patch, accept_patch},
    refusal::PatchRefusal,
    rules::PatchRules,
};
