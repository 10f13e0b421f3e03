//! Audit of the responses of any HTTP server against the rules of this crate.
//!
//! [`audit`] checks one request and its response. The other functions check rules that need several
//! responses: to a GET and its HEAD, to duplicates of a POST with one key, to a cursor with a
//! changed character. The caller sends these requests and passes the responses. This module does no
//! I/O, so a test can audit every response of its host in any framework.
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_conventions::audit::{Rule, audit};
//!
//! let request = Request::get("/v1/charges").body(Bytes::new())?;
//! let response = Response::builder()
//!     .status(401)
//!     .header("X-Request-Id", "checkout-7f3a")
//!     .header("Content-Type", "application/problem+json")
//!     .body(Bytes::from_static(
//!         br#"{"type":"about:blank","title":"Unauthorized","status":401}"#,
//!     ))?;
//!
//! let findings = audit(&request, &response);
//! assert_eq!(findings.len(), 1);
//! assert_eq!(findings[0].rule(), Rule::NoChallenge);
//! assert_eq!(
//!     findings[0].to_string(),
//!     "no-challenge: a 401 without WWW-Authenticate (RFC 9110 §15.5.2)"
//! );
//! # Ok::<(), http::Error>(())
//! ```

mod answer;
mod body;
mod content;
mod fields;
mod pairs;
mod rule;

use bytes::Bytes;
use http::{Request, Response};

pub use self::{
    pairs::{
        changed_cursor, codings, conditional_read, duplicates, head, limit_out_of_range, reused_key,
        stale_write, unknown_method, unlisted_origin,
    },
    rule::{Finding, Rule},
};

/// Checks one response; empty if it breaks no rule.
#[must_use]
pub fn audit(request: &Request<Bytes>, response: &Response<Bytes>) -> Vec<Finding> {
    let mut findings = Vec::new();
    answer::check(request, response, &mut findings);
    fields::check(response, &mut findings);
    body::check(request, response, &mut findings);
    content::check(request, response, &mut findings);
    findings
}
