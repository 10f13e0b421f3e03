//! Routing: hosts, methods, `Allow`, `Location`, redirects, route templates, request ids.
//!
//! # Methods
//!
//! Semantics of methods, [RFC 9110 §9.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2), and
//! QUERY, [RFC 10008](https://www.rfc-editor.org/rfc/rfc10008): a GET with content.
//!
//! ```
//! use http::Method;
//! use http_conventions::routing::Semantics;
//!
//! let query = Semantics::of(&Method::QUERY);
//! assert!(query.is_safe() && query.is_cacheable() && query.is_retried());
//! assert!(!Semantics::of(&Method::POST).is_retried());
//! assert!(Semantics::of(&Method::DELETE).is_idempotent());
//! ```
//!
//! # Allow
//!
//! `Allow`, [RFC 9110 §10.2.1](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.1): the methods
//! of a resource, in a 405 and in the response to OPTIONS.
//!
//! ```
//! use http::Method;
//! use http_conventions::{errors::Problem, routing::Allow};
//!
//! let allow = Allow::of(&[Method::GET, Method::HEAD, Method::OPTIONS]);
//! assert_eq!(allow.no_content().headers()["allow"], "GET, HEAD, OPTIONS");
//! assert_eq!(
//!     Problem::method_not_allowed(allow).into_response().headers()["allow"],
//!     "GET, HEAD, OPTIONS"
//! );
//! ```
//!
//! # Location
//!
//! `Location`, [RFC 9110 §10.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.2), and the
//! two responses that need it: 201 with the created resource, 202 with a resource to poll.
//!
//! A 201 without `Location` refers to the target of its request, for example of a PUT ([RFC 9110
//! §15.3.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.3.2)). A host may therefore build
//! such a 201 by hand. [`audit`](crate::audit) reports a 201 of any other method without
//! `Location`.
//!
//! ```
//! use http::Response;
//! use http_conventions::routing::{Location, respond_accepted, respond_created};
//!
//! let charge = Location::of_path(["v1", "charges", "ch_1"])?;
//! let answer = respond_created(&charge, Response::new("{\"id\":\"ch_1\"}"));
//! assert_eq!(
//!     (answer.status().as_u16(), &answer.headers()["location"]),
//!     (201, &charge.header_value())
//! );
//!
//! let job: Location = "https://jobs.example.com/v1/jobs/7".parse()?;
//! assert_eq!(
//!     respond_accepted(&job, Response::new("")).headers()["location"],
//!     "https://jobs.example.com/v1/jobs/7"
//! );
//! # Ok::<(), http_conventions::routing::InvalidLocation>(())
//! ```
//!
//! # Redirects
//!
//! Redirects, [RFC 9110 §15.4](https://www.rfc-editor.org/rfc/rfc9110#section-15.4).
//!
//! After a 301 or 302 a client may change a POST to a GET and drop its content. [`redirect`]
//! therefore uses 308 or 307, and 301 or 302 only for GET and HEAD.
//!
//! ```
//! use http::Method;
//! use http_conventions::routing::{redirect, see_other, Lasting, Location};
//!
//! let moved = Location::of_path(["v2", "charges"])?;
//! assert_eq!(redirect(&Method::GET, Lasting::Permanent, &moved).status(), 301);
//! assert_eq!(redirect(&Method::POST, Lasting::Permanent, &moved).status(), 308);
//! assert_eq!(redirect(&Method::POST, Lasting::Temporary, &moved).status(), 307);
//! assert_eq!(see_other(&moved).headers()["location"], "/v2/charges");
//! # Ok::<(), http_conventions::routing::InvalidLocation>(())
//! ```
//!
//! # Route templates
//!
//! Linter for route templates, for use in a test: lower case, hyphens, plural nouns, at most two
//! levels.
//!
//! ```
//! use http_conventions::routing::{PathFinding, PathRules};
//!
//! let rules = PathRules::default().with_exception("health");
//! assert_eq!(rules.check("/v1/charges/{id}/refunds"), []);
//! assert_eq!(rules.check("/health"), []);
//! assert_eq!(
//!     rules.check("/v1/charge_items"),
//!     [PathFinding::NotHyphenated("charge_items".to_owned())]
//! );
//! ```
//!
//! The linter recognizes a plural by its ending. Register as exceptions the words that it guesses
//! wrongly, and singletons such as `health` and `openapi.json`.
//!
//! # Request ids
//!
//! `X-Request-Id` identifies a request in its response, in its problem, and in the logs of client
//! and server.
//!
//! The server adopts the id of the client only if it is one field line that matches
//! `[A-Za-z0-9._~-]{8,128}`. It replaces any other id, which could inject text into the logs of the
//! host.
//!
//! ```
//! use http::HeaderMap;
//! use http_conventions::{ports::OsEntropy, routing::{RequestId, X_REQUEST_ID}};
//!
//! let mut request = HeaderMap::new();
//! request.insert(X_REQUEST_ID, "checkout-7f3a".parse()?);
//!
//! let id = RequestId::adopt(&request, &OsEntropy);
//! assert_eq!(id.as_str(), "checkout-7f3a");
//!
//! let mut response = HeaderMap::new();
//! id.apply(&mut response);
//! assert_eq!(response[X_REQUEST_ID], "checkout-7f3a");
//! # Ok::<(), http::header::InvalidHeaderValue>(())
//! ```

pub(crate) mod allow;
mod allowed_hosts;
pub(crate) mod location;
pub(crate) mod method;
pub(crate) mod path_rules;
pub(crate) mod redirect;
pub(crate) mod request_id;

pub use self::{
    allow::Allow,
    allowed_hosts::{AllowedHosts, HostRefusal, InvalidHost},
    location::{InvalidLocation, Location, respond_accepted, respond_created},
    method::{ACCEPT_QUERY, METHODS, Semantics, accept_query},
    path_rules::{PathFinding, PathRules},
    redirect::{Lasting, redirect, see_other},
    request_id::{InvalidRequestId, RequestId, X_REQUEST_ID},
};
