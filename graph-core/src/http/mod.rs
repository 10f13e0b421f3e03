//! GraphQL over HTTP: requests, media types, statuses, CSRF protection and the explorer page.
//!
//! [`Engine::respond`](crate::Engine::respond) is the endpoint; this module parses its requests and
//! writes its responses. Specification: [GraphQL over
//! HTTP](https://graphql.github.io/graphql-over-http/draft/).
//!
//! | request | response |
//! |---|---|
//! | GET that prefers `text/html`, unless the explorer is disabled | the explorer page |
//! | GET with `?query=` | result of a query; a mutation gets 405 with `Allow: POST` |
//! | POST of `application/json` | result of a query or a mutation |
//! | POST of a JSON array, if [batches][batch] are enabled | array of results, 200 |
//! | GET or POST with `Accept: text/event-stream` | result of any operation as events |
//! | GET or POST of a subscription with `Accept: multipart/mixed;subscriptionSpec=1.0` | result as [parts][multipart] |
//! | GET or POST of an operation with `@defer`, if [enabled][deferred], with `Accept: multipart/mixed;deferSpec=20220824` or `Accept: multipart/mixed;incrementalSpec=v0.2` | result as [parts][incremental] |
//!
//! | error | status |
//! |---|---|
//! | invalid JSON, neither `query` nor a document id, a parameter of the wrong type | 400 |
//! | a content type that needs no preflight, without a preflight header | 400 |
//! | a mutation by GET; a method other than GET and POST | 405 with `Allow` |
//! | no supported media type in `Accept`; a batch as server-sent events | 406 |
//! | a body above the limit | 413 |
//! | a content type other than `application/json`, a charset other than UTF-8 | 415 |
//! | a content coding such as gzip | 415 with `Accept-Encoding` |
//! | a batch that is empty, too long, or above a limit in total | 400 |
//! | parse, validation, limit and variable errors | 200 or 400, see below |
//!
//! - These are the statuses of the default profile. [`StatusProfile`] lists the statuses of the
//!   September 2026 edition.
//! - Parse, validation, limit and variable errors get 200 as `application/json`, and 400 as
//!   `application/graphql-response+json`.
//! - The preflight header is `GraphQL-Require-Preflight` or `Apollo-Require-Preflight`. A browser
//!   sends `application/x-www-form-urlencoded`, `multipart/form-data`, `text/plain` or no content
//!   type without a preflight. With a preflight header, such a request gets 415.
//!
//! [multipart]: crate::subscription::multipart
//! [batch]: crate::engine::EngineBuilder::with_batches
//! [deferred]: crate::engine::EngineBuilder::with_incremental_delivery

mod accept;
mod batch;
mod content_type;
mod explorer;
pub mod incremental;
pub(crate) mod json;
mod parameters;
mod refusal;
mod request;
mod response;
mod status;
mod stream;

pub(crate) use self::accept::{Multipart, Rendering};
pub(crate) use self::explorer::page as explorer_page;
pub(crate) use self::refusal::{Refusal, too_many_values};
pub use self::request::GraphRequest;
pub use self::response::HttpResponse;
pub(crate) use self::response::{deferred, event_stream, events, json, list, parts, refused, text};
pub use self::status::StatusProfile;
pub(crate) use self::stream::COMMENT;
pub use self::stream::EventStream;

use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, Method, Request};

/// HTTP settings of the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpPolicy {
    pub(crate) body_limit: usize,
    /// Maximum number of values in the variables.
    pub(crate) values: usize,
    pub(crate) explorer: bool,
    /// Maximum number of operations of a batch; `None` disables batches.
    pub(crate) batch: Option<usize>,
    /// Sends deferred fragments later.
    pub(crate) incremental: bool,
    pub(crate) profile: StatusProfile,
}

/// Parsed HTTP request.
#[derive(Debug)]
pub(crate) enum Exchange {
    Explorer,
    Operation {
        request: GraphRequest,
        rendering: Rendering,
        multipart: Multipart,
        /// `true` for a GET, which must not execute a mutation.
        read_only: bool,
    },
    Batch {
        requests: Vec<Result<GraphRequest, Refusal>>,
        rendering: Rendering,
    },
}

impl HttpPolicy {
    /// Parses `request`.
    pub(crate) fn read(self, request: &Request<Bytes>) -> Result<Exchange, Refusal> {
        let read_only = match *request.method() {
            Method::GET => true,
            Method::POST => false,
            _ => return Err(Refusal::method("GET, POST", "only GET and POST are served")),
        };
        let explorer = read_only && self.explorer;
        let accepted = accept::negotiate(request.headers(), explorer);
        let mut multipart = accepted.multipart;
        multipart.deferred = multipart.deferred.filter(|_| self.incremental);
        // a client that accepts only parts gets any other result as JSON
        let other = multipart.is_accepted().then_some(Rendering::Json);
        let Some(rendering) = accepted.rendering.or(other) else {
            return Err(Refusal::not_acceptable());
        };
        if rendering == Rendering::Explorer {
            return Ok(Exchange::Explorer);
        }
        let exchange = if read_only {
            GraphRequest::from_query(request.uri().query().unwrap_or_default(), self.values).map(|request| {
                Exchange::Operation {
                    request,
                    rendering,
                    multipart,
                    read_only,
                }
            })
        } else {
            content_type::check(request.headers())
                .and_then(|()| self.within_limit(request.body()))
                .and_then(|body| self.posted(body, rendering, multipart))
        };
        let mut exchange = exchange.map_err(|refusal| refusal.rendered(rendering))?;
        if asks_for_cost(request.headers()) {
            exchange.ask_for_cost();
        }
        Ok(exchange)
    }

    /// Media type that the client accepts for any operation.
    pub(crate) fn accepts(self, headers: &HeaderMap) -> Option<Rendering> {
        accept::negotiate(headers, false).rendering
    }

    fn posted(self, body: &Bytes, rendering: Rendering, multipart: Multipart) -> Result<Exchange, Refusal> {
        if !body.trim_ascii_start().starts_with(b"[") {
            return Ok(Exchange::Operation {
                request: GraphRequest::from_json(body, self.values)?,
                rendering,
                multipart,
                read_only: false,
            });
        }
        let Some(limit) = self.batch else {
            return Err(Refusal::bad_request(
                "batches are not enabled: send one operation per request",
            ));
        };
        if rendering == Rendering::EventStream {
            return Err(Refusal::not_acceptable());
        }
        Ok(Exchange::Batch {
            requests: batch::read(body, limit, self.values)?,
            rendering,
        })
    }

    fn within_limit(self, body: &Bytes) -> Result<&Bytes, Refusal> {
        if body.len() > self.body_limit {
            return Err(Refusal::too_large(self.body_limit));
        }
        Ok(body)
    }
}

impl Exchange {
    fn ask_for_cost(&mut self) {
        match self {
            Self::Explorer => {}
            Self::Operation { request, .. } => request.cost_report = true,
            Self::Batch { requests, .. } => {
                let requests = requests.iter_mut().flatten();
                requests.for_each(|request| request.cost_report = true);
            }
        }
    }
}

/// Returns `true` if the cost-report header is set; Hot Chocolate uses the same header.
fn asks_for_cost(headers: &HeaderMap) -> bool {
    const COST: HeaderName = HeaderName::from_static("graphql-cost");
    let asked = headers.get(COST);
    asked.is_some_and(|asked| asked.as_bytes().eq_ignore_ascii_case(b"report"))
}
