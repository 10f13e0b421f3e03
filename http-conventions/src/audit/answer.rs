//! Header fields that a status requires.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, Request, Response, StatusCode,
    header::{
        ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH,
        CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
    },
};

use super::{Finding, Rule};
use crate::{
    field,
    patching::ACCEPT_PATCH,
    routing::{RequestId, X_REQUEST_ID},
    single_value,
};

pub(super) fn check(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    request_id(request, response.headers(), findings);
    content(response, findings);
    obligations(request, response, findings);
    formats(request, response, findings);
    redirect(request, response, findings);
    refusal(response, findings);
}

fn request_id(request: &Request<Bytes>, answered: &HeaderMap, findings: &mut Vec<Finding>) {
    let Some(id) = single_value(answered, &X_REQUEST_ID) else {
        findings.push(Finding::new(Rule::NoRequestId, "no X-Request-Id, or several"));
        return;
    };
    let is_harmless = id.to_str().is_ok_and(|id| id.parse::<RequestId>().is_ok());
    let is_echoed = single_value(request.headers(), &X_REQUEST_ID) == Some(id);
    if is_echoed && !is_harmless {
        findings.push(Finding::new(Rule::HarmfulRequestId, format!("echoes {id:?}")));
    }
}

fn content(response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let (status, has_content) = (response.status(), !response.body().is_empty());
    let headers = response.headers();
    let unexpected = match status {
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED if has_content => Some("content".to_owned()),
        StatusCode::NOT_MODIFIED => {
            let about_content = [CONTENT_TYPE, CONTENT_LANGUAGE, CONTENT_ENCODING];
            let mut found = about_content.iter().filter(|name| headers.contains_key(*name));
            found.next().map(HeaderName::to_string)
        }
        StatusCode::NO_CONTENT if headers.contains_key(CONTENT_LENGTH) => Some(CONTENT_LENGTH.to_string()),
        _ => None,
    };
    if let Some(what) = unexpected {
        findings.push(Finding::new(
            Rule::UnexpectedContent,
            format!("a {} with {what}", status.as_u16()),
        ));
    } else if has_content && !headers.contains_key(CONTENT_TYPE) {
        findings.push(Finding::new(Rule::NoContentType, "content without Content-Type"));
    }
}

/// Checks the fields that a status requires.
fn obligations(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let status = response.status();
    let owed = match status.as_u16() {
        401 => Some((Rule::NoChallenge, WWW_AUTHENTICATE, "WWW-Authenticate")),
        405 => Some((Rule::NoAllow, ALLOW, "Allow")),
        201 | 202 | 301 | 302 | 303 | 307 | 308 => Some((Rule::NoLocation, LOCATION, "Location")),
        429 | 503 => Some((Rule::NoRetryAfter, RETRY_AFTER, "Retry-After")),
        _ => None,
    };
    // a PUT creates the resource at the target of the request
    let goes_without = *request.method() == Method::PUT && status == StatusCode::CREATED;
    if let Some((rule, name, spelled)) = owed
        && !response.headers().contains_key(name)
        && !goes_without
    {
        findings.push(Finding::new(
            rule,
            format!("a {} without {spelled}", status.as_u16()),
        ));
    }
    let method = request.method().as_str().as_bytes();
    let is_allowed = || field::members(response.headers(), &ALLOW).any(|allowed| allowed == method);
    if status == StatusCode::METHOD_NOT_ALLOWED && is_allowed() {
        let detail = format!("{} is refused, and Allow lists it", request.method());
        findings.push(Finding::new(Rule::AllowsWhatItRefuses, detail));
    }
}

/// Checks that the refusal of a patch tells the client what to send instead.
fn formats(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let is_refused =
        *request.method() == Method::PATCH && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
    let mut names = [ACCEPT_PATCH, ACCEPT_ENCODING].into_iter();
    if is_refused && !names.any(|name| response.headers().contains_key(name)) {
        findings.push(Finding::new(
            Rule::NoAcceptPatch,
            "a 415 to PATCH without Accept-Patch",
        ));
    }
}

fn redirect(request: &Request<Bytes>, response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let keeps_nothing = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND
    );
    if keeps_nothing && !matches!(*request.method(), Method::GET | Method::HEAD) {
        let detail = format!(
            "{} is redirected by {}, which clients follow by GET",
            request.method(),
            response.status().as_u16()
        );
        findings.push(Finding::new(Rule::LosesMethod, detail));
    }
}

/// Checks that 428, 429 and 431 are not cached, [RFC 6585](https://www.rfc-editor.org/rfc/rfc6585).
fn refusal(response: &Response<Bytes>, findings: &mut Vec<Finding>) {
    let is_never_kept = matches!(response.status().as_u16(), 428 | 429 | 431);
    let mut directives = field::members(response.headers(), &CACHE_CONTROL);
    if is_never_kept && !directives.any(|directive| directive.eq_ignore_ascii_case(b"no-store")) {
        let detail = format!("a {} without no-store", response.status().as_u16());
        findings.push(Finding::new(Rule::StoredRefusal, detail));
    }
}
