//! GraphQL over HTTP: requests, media types, statuses and the explorer page.
//!
//! See the [GraphQL-over-HTTP specification](https://graphql.github.io/graphql-over-http/draft/). The endpoint itself is
//! [`Engine::respond`](crate::Engine::respond); this module reads its request and writes its answer.
//!
//! | request | answer |
//! |---|---|
//! | GET that prefers `text/html` | the explorer page |
//! | GET with `?query=` | a query; a mutation is 405 with `Allow: POST` |
//! | POST of `application/json` | a query or a mutation |
//! | either, with `Accept: text/event-stream` | any operation, as server-sent events |
//!
//! | what is wrong | status |
//! |---|---|
//! | not JSON, no `query`, a parameter of the wrong type | 400 |
//! | a content type that a foreign page can send without asking, and no `GraphQL-Require-Preflight` | 400 |
//! | a mutation by GET, another method than GET and POST | 405 with `Allow` |
//! | nothing in `Accept` that we can send | 406 |
//! | a body above the limit | 413 |
//! | another content type than `application/json`, another charset than UTF-8 | 415 |
//! | a content coding, such as gzip | 415 with `Accept-Encoding` |
//! | parsing, validation, limits, variables | 200 as `application/json`, 400 as `application/graphql-response+json` |

mod accept;
mod answer;
mod content_type;
mod explorer;
mod parameters;
mod refusal;
mod request;

pub(crate) use self::accept::Rendering;
pub use self::answer::{Answer, EventStream, KEEP_ALIVE};
pub(crate) use self::answer::{events, json};
pub(crate) use self::explorer::page as explorer_page;
pub(crate) use self::refusal::Refusal;
pub use self::request::GraphRequest;

use bytes::Bytes;
use http::{Method, Request};

/// What of HTTP the engine lets the host decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpPolicy {
    pub(crate) body_limit: usize,
    pub(crate) explorer: bool,
}

/// What an HTTP request asks for.
#[derive(Debug)]
pub(crate) enum Exchange {
    Explorer,
    Operation {
        request: GraphRequest,
        rendering: Rendering,
        /// A GET: nothing may be written.
        read_only: bool,
    },
}

impl HttpPolicy {
    /// Reads `request`.
    pub(crate) fn read(self, request: &Request<Bytes>) -> Result<Exchange, Refusal> {
        let read_only = match *request.method() {
            Method::GET => true,
            Method::POST => false,
            _ => return Err(Refusal::method("GET, POST", "only GET and POST are served")),
        };
        let explorer = read_only && self.explorer;
        let Some(rendering) = accept::negotiate(request.headers(), explorer) else {
            return Err(Refusal::not_acceptable());
        };
        if rendering == Rendering::Explorer {
            return Ok(Exchange::Explorer);
        }
        let parsed = if read_only {
            GraphRequest::from_query(request.uri().query().unwrap_or_default())
        } else {
            content_type::check(request.headers())
                .and_then(|()| self.within_limit(request.body()))
                .and_then(GraphRequest::from_json)
        };
        match parsed {
            Ok(request) => Ok(Exchange::Operation {
                request,
                rendering,
                read_only,
            }),
            Err(refusal) => Err(refusal.rendered(rendering)),
        }
    }

    fn within_limit(self, body: &Bytes) -> Result<&Bytes, Refusal> {
        if body.len() > self.body_limit {
            return Err(Refusal::too_large(self.body_limit));
        }
        Ok(body)
    }
}
