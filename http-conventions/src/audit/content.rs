//! Checks digests against the content.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};

use super::{Finding, Rule};
use crate::content::{CONTENT_DIGEST, Digests, REPR_DIGEST};

pub(super) fn check(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let status = response.status();
    // these have the fields of a content that is not sent
    let has_content = *request.method() != Method::HEAD && status != StatusCode::NOT_MODIFIED;
    let is_complete = *request.method() == Method::GET && status == StatusCode::OK;
    for (name, is_of_content) in [(CONTENT_DIGEST, has_content), (REPR_DIGEST, is_complete)] {
        let fault = match Digests::parse(response.headers(), &name) {
            Err(_) => "is malformed",
            Ok(Some(digests)) if is_of_content && !digests.match_content(response.body()) => {
                "is not the digest of the content"
            }
            Ok(_) => continue,
        };
        findings.push(Finding::new(Rule::InvalidDigest, format!("{name} {fault}")));
    }
}
