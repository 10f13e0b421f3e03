//! Components of an OpenAPI 3.1 document, generated from the configured [`Conventions`].
//!
//! [`Conventions::openapi_components`] returns the member `components`; the host adds its own
//! schemas. [`Conventions::openapi_operation`] returns the members of one operation that follow
//! from the conventions; the host adds the rest.
//!
//! ```
//! use std::{sync::Arc, time::SystemTime};
//!
//! use http_conventions::{
//!     errors::{ErrorStatus, ProblemType},
//!     openapi::Takes,
//!     paging::PageRules,
//!     pipeline::Conventions,
//!     ports::{OsEntropy, SystemClock},
//! };
//!
//! const OUT_OF_STOCK: ProblemType = ProblemType::new(
//!     "out-of-stock",
//!     ErrorStatus::CONFLICT,
//!     "Out of stock",
//!     "The item cannot be ordered at the moment.",
//! );
//!
//! let conventions = Conventions::builder(
//!     "https://api.example.com/problems/",
//!     Arc::new(SystemClock),
//!     Arc::new(OsEntropy),
//! )
//! .with_page_rules(PageRules::default())
//! .with_problem_types([OUT_OF_STOCK])
//! .build()?;
//!
//! let components = conventions.openapi_components();
//! assert_eq!(components["parameters"]["Limit"]["schema"]["maximum"], 100);
//! assert_eq!(
//!     components["schemas"]["OutOfStockProblem"]["properties"]["type"]["const"],
//!     "https://api.example.com/problems/out-of-stock"
//! );
//! assert!(components["parameters"].get("IdempotencyKey").is_none());
//!
//! let list = conventions.openapi_operation(&[Takes::Page, Takes::Credentials]);
//! assert_eq!(
//!     list["parameters"][0]["$ref"],
//!     "#/components/parameters/Limit"
//! );
//! assert_eq!(
//!     list["responses"]["401"]["$ref"],
//!     "#/components/responses/Unauthorized"
//! );
//! # Ok::<(), http_conventions::pipeline::InvalidConventions>(())
//! ```
//!
//! # Names
//!
//! | component | name | example |
//! |---|---|---|
//! | response | its status | `NotFound` |
//! | problem type | its slug | `OutOfStockProblem` |
//! | any problem | | `Problem` |
//! | problem without a type | | `BlankProblem` |
//! | page | | `Page` |
//! | header | its field name | `X-Request-Id` |
//!
//! # Contract
//!
//! - Register every problem type of the host with
//!   [`with_problem_types`](crate::pipeline::ConventionsBuilder::with_problem_types), so that the
//!   responses list it.
//! - Add the success responses of the host, with the headers of [`headers`]. Add also the errors
//!   that its handlers choose, as in `"404": {"$ref": "#/components/responses/NotFound"}`.
//!
//! [`Conventions`]: crate::pipeline::Conventions
//! [`Conventions::openapi_components`]: crate::pipeline::Conventions::openapi_components
//! [`Conventions::openapi_operation`]: crate::pipeline::Conventions::openapi_operation
//! [`headers`]: crate::pipeline::Conventions::openapi_headers

mod fields;
mod operation;
mod parameters;
mod problems;
mod responses;

use serde_json::{Map, Value, json};

use crate::{
    errors::{ProblemBase, ProblemType},
    idempotency::Idempotency,
    limits::RateLimiter,
    paging::PageRules,
    versions::Versions,
};

pub(crate) use self::{
    fields::of_every_answer,
    operation::operation,
    problems::{RESERVED_NAMES, own_types, problem_name},
};

/// A feature that an operation uses, in addition to the conventions of every request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Takes {
    /// Returns a page: `limit` and `after`.
    Page,
    /// Returns a page in both directions: `before` too, if the page rules allow it.
    PageBothWays,
    /// Can be retried with an `Idempotency-Key`.
    IdempotencyKey,
    /// Reads a state conditionally: `If-None-Match`.
    ReadPreconditions,
    /// Writes a state conditionally: `If-Match`.
    WritePreconditions,
    /// Reads ranges of a content: `Range` and `If-Range`. The host adds the 206.
    Ranges,
    /// Reads content.
    Content,
    /// Changes a resource by a [`Patch`](crate::patching::Patch), in both formats.
    Patch,
    /// Requires authentication.
    Credentials,
    /// Is bounded by a [`ConcurrencyLimit`](crate::limits::ConcurrencyLimit).
    ConcurrencyLimit,
    /// Is bounded by a [`CallerConcurrency`](crate::limits::CallerConcurrency).
    CallerConcurrency,
    /// Has a [`Deadline`](crate::limits::Deadline) with 503.
    Deadline,
    /// Has a [`Deadline`](crate::limits::Deadline) with 504.
    GatewayDeadline,
}

/// Conventions as the document describes them.
pub(crate) struct Described<'a> {
    pub(crate) base: &'a ProblemBase,
    pub(crate) checks_hosts: bool,
    pub(crate) sends_timing: bool,
    pub(crate) requires_digest: bool,
    /// Problem types of the host.
    pub(crate) kinds: &'a [ProblemType],
    pub(crate) pages: Option<PageRules>,
    pub(crate) versions: Option<&'a Versions>,
    /// Accounts are pinned to versions, so a request need not name one.
    pub(crate) pins_versions: bool,
    pub(crate) limiter: Option<&'a RateLimiter>,
    pub(crate) idempotency: Option<&'a Idempotency>,
}

/// Member `components` of a document.
pub(crate) fn components(conventions: &Described<'_>) -> Value {
    let mut schemas = problems::schemas(conventions);
    if conventions.pages.is_some() {
        schemas.insert("Page".to_owned(), page());
    }
    json!({
        "schemas": schemas,
        "parameters": parameters::all(conventions),
        "headers": fields::all(conventions),
        "responses": responses::all(conventions),
    })
}

/// Schema of a page; the host adds the schema of its items.
fn page() -> Value {
    json!({
        "type": "object",
        "description": "One page of a collection.",
        "required": ["data", "has_more", "next_cursor"],
        "properties": {
            "data": { "type": "array", "items": {} },
            "has_more": { "type": "boolean", "description": "True if another page follows." },
            "next_cursor": {
                "type": ["string", "null"],
                "minLength": 1,
                "maxLength": 512,
                "description": "Cursor of the next page, for `after`; null on the last page.",
            },
        },
    })
}

/// A `$ref` to a component.
fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// Components by name.
fn named(all: impl IntoIterator<Item = (String, Value)>) -> Map<String, Value> {
    all.into_iter().collect()
}
