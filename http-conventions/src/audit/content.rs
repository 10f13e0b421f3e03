//! Checks ranges and digests against the content.

use bytes::Bytes;
use host_ports::ContentType;
use http::{
    Method, Request, Response, StatusCode,
    header::{CONTENT_RANGE, CONTENT_TYPE, RANGE},
};

use super::{Finding, Rule};
use crate::{
    content::{CONTENT_DIGEST, Digests, REPR_DIGEST, ranges::ContentRange},
    single_value,
};

pub(super) fn check(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let fault = match response.status() {
        StatusCode::PARTIAL_CONTENT => partial_fault(request, response),
        StatusCode::RANGE_NOT_SATISFIABLE => unsatisfiable_fault(response),
        _ => None,
    };
    findings.extend(fault.map(|fault| Finding::new(Rule::InvalidRange, fault)));
    digests(request, response, findings);
}

fn partial_fault(request: &Request<Bytes>, response: &Response<Bytes>) -> Option<String> {
    if *request.method() != Method::GET || !request.headers().contains_key(RANGE) {
        return Some("a 206 to a request without a range".to_owned());
    }
    let range = response.headers().get(CONTENT_RANGE);
    let content_type = response.headers().get(CONTENT_TYPE);
    let is_multipart =
        content_type.is_some_and(|value| ContentType::new(value.as_bytes()).is("multipart/byteranges"));
    match (is_multipart, range) {
        (true, Some(_)) => Some("several parts with one Content-Range".to_owned()),
        (true, None) => None,
        (false, _) => {
            let range = single_value(response.headers(), &CONTENT_RANGE);
            let read = range.and_then(|value| ContentRange::parse(value.as_bytes())?.range);
            let length = u64::try_from(response.body().len()).ok();
            match read {
                None => Some(format!("a 206 with Content-Range: {range:?}")),
                Some(range) if Some(range.length()) != length => Some(format!(
                    "Content-Range has {} bytes, the content {}",
                    range.length(),
                    response.body().len()
                )),
                Some(_) => None,
            }
        }
    }
}

fn unsatisfiable_fault(response: &Response<Bytes>) -> Option<String> {
    let value = single_value(response.headers(), &CONTENT_RANGE);
    let read = value.and_then(|value| ContentRange::parse(value.as_bytes()));
    let is_valid = read.is_some_and(|read| read.range.is_none());
    (!is_valid).then(|| format!("a 416 with Content-Range: {value:?}"))
}

fn digests(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
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
