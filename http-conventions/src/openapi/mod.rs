//! The components of an OpenAPI 3.1 document, from the [`Conventions`] that keep them: what is configured appears, and nothing
//! else.
//!
//! A document of the host refers to them, so that it says what the pipeline does. [`Conventions::openapi_components`] is its
//! member `components`, to which the host adds schemas of its own; [`Conventions::openapi_operation`] is what the conventions have
//! a say in of one operation, to which the host adds the rest.
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
//! const OUT_OF_STOCK: ProblemType =
//!     ProblemType::new("out-of-stock", ErrorStatus::CONFLICT, "Out of stock", "The item cannot be ordered at the moment.");
//!
//! let conventions = Conventions::builder("https://api.example.com/problems/", Arc::new(SystemClock), Arc::new(OsEntropy))
//!     .with_page_rules(PageRules::default())
//!     .with_problem_types([OUT_OF_STOCK])
//!     .build()?;
//!
//! let components = conventions.openapi_components();
//! assert_eq!(components["parameters"]["Limit"]["schema"]["maximum"], 100);
//! assert_eq!(components["schemas"]["OutOfStockProblem"]["properties"]["type"]["const"], "https://api.example.com/problems/out-of-stock");
//! assert!(components["parameters"].get("IdempotencyKey").is_none());
//!
//! let list = conventions.openapi_operation(&[Takes::Page, Takes::Credentials]);
//! assert_eq!(list["parameters"][0]["$ref"], "#/components/parameters/Limit");
//! assert_eq!(list["responses"]["401"]["$ref"], "#/components/responses/Unauthorized");
//! # Ok::<(), http_conventions::pipeline::InvalidConventions>(())
//! ```
//!
//! # Names
//!
//! A response is named after its status, as `NotFound`; a problem after its slug, as `OutOfStockProblem`; a header after
//! itself; a page is `Page`, any problem `Problem`, and one without a type `BlankProblem`.
//!
//! # What the host must do
//!
//! - Name every problem type it sends by [`with_problem_types`](crate::pipeline::ConventionsBuilder::with_problem_types): a
//!   response says which types it may have.
//! - Add what it alone knows: its successes, and the statuses that its handlers choose, as
//!   `"404": {"$ref": "#/components/responses/NotFound"}`. [`headers`] is what a success of its own carries.
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

/// A convention that an operation takes part in, beside those of every request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Takes {
    /// It answers a page: `limit` and `after`.
    Page,
    /// It answers a page, and walks back where the rules say so: `before` too.
    PageBothWays,
    /// It may be sent again with its `Idempotency-Key`.
    IdempotencyKey,
    /// It reads a state, unless the client has it: `If-None-Match`.
    ReadPreconditions,
    /// It writes over a state that the client knows: `If-Match`.
    WritePreconditions,
    /// It reads content.
    Content,
    /// Its callers prove who they are.
    Credentials,
}

/// What of the conventions shows in a document.
pub(crate) struct Described<'a> {
    pub(crate) base: &'a ProblemBase,
    /// Those of the host.
    pub(crate) kinds: &'a [ProblemType],
    pub(crate) pages: Option<PageRules>,
    pub(crate) versions: Option<&'a Versions>,
    /// Whether a request may leave its version unsaid.
    pub(crate) pins_versions: bool,
    pub(crate) limiter: Option<&'a RateLimiter>,
    pub(crate) idempotency: Option<&'a Idempotency>,
}

/// The member `components` of a document.
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

/// The envelope; a host says of what its `data` is.
fn page() -> Value {
    json!({
        "type": "object",
        "description": "One page of a collection.",
        "required": ["data", "has_more", "next_cursor"],
        "properties": {
            "data": { "type": "array", "items": {} },
            "has_more": { "type": "boolean", "description": "Whether more follow." },
            "next_cursor": {
                "type": ["string", "null"],
                "minLength": 1,
                "maxLength": 512,
                "description": "What to pass as `after` for the next page; null on the last one.",
            },
        },
    })
}

/// A `$ref` to a component.
fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// Components by their names.
fn named(all: impl IntoIterator<Item = (String, Value)>) -> Map<String, Value> {
    all.into_iter().collect()
}
