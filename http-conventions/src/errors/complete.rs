//! Completes problems with the target and the request id of their request.

use std::borrow::Cow;

use bytes::Bytes;
use host_ports::ContentType;
use http::{
    HeaderName, Response, StatusCode, Uri,
    header::{
        CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LAST_MODIFIED,
        TRANSFER_ENCODING, WWW_AUTHENTICATE,
    },
};

use super::{Challenge, Problem, ReceivedProblem, write};
use crate::{
    content::{CONTENT_DIGEST, REPR_DIGEST},
    routing::RequestId,
    uri::{is_uri_byte, push_percent_encoded},
};

const REQUEST_ID: &str = "request_id";
/// Longest path in bytes that is repeated as `instance`.
const LONGEST_INSTANCE: usize = 2 << 10;
/// Fields that describe the bytes of the content; they are wrong once the content changes.
static OF_BYTES: [HeaderName; 5] = [CONTENT_LENGTH, ETAG, LAST_MODIFIED, CONTENT_DIGEST, REPR_DIGEST];

impl Problem {
    /// Adds the target as `instance`, unless there is one, and the request id.
    pub(crate) fn completed(mut self, target: &Uri, id: &RequestId) -> Self {
        if self.0.instance.is_none() {
            self.0.instance = instance(target).map(Cow::Owned);
        }
        self.with_request_id(id)
    }

    /// Builds the problem that replaces the content of an error response.
    ///
    /// A 401 without `WWW-Authenticate` gets `challenge`. Other headers that the status requires
    /// stay in `answer`.
    pub(crate) fn explaining<B>(answer: &Response<B>, challenge: Option<&Challenge>) -> Self {
        let status = answer.status();
        let problem = match status {
            // these two require `Retry-After`; a value in the response takes precedence
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Self::of_status(status),
            _ => Self::blank(status),
        };
        match challenge {
            Some(challenge)
                if status == StatusCode::UNAUTHORIZED && !answer.headers().contains_key(WWW_AUTHENTICATE) =>
            {
                problem.with_challenge(challenge.clone())
            }
            _ => problem,
        }
    }

    /// Replaces the content of a response with this problem and keeps its other fields.
    pub(crate) fn replace_content<B>(self, answer: Response<B>) -> Response<Bytes> {
        let mut replaced = self.into_response();
        let head = answer.into_parts().0;
        let mut fields = head.headers;
        replaced.extensions_mut().extend(head.extensions);
        for of_content in [
            CONTENT_ENCODING,
            CONTENT_LANGUAGE,
            CONTENT_TYPE,
            TRANSFER_ENCODING,
        ]
        .iter()
        .chain(&OF_BYTES)
        {
            fields.remove(of_content);
        }
        // a field of the response takes precedence over the field of the problem
        for name in fields.keys() {
            replaced.headers_mut().remove(name);
        }
        fields.extend(std::mem::take(replaced.headers_mut()));
        *replaced.headers_mut() = fields;
        replaced
    }
}

/// Returns `true` if the response is an error with no content or with `text/plain` content.
///
/// Frameworks write their own errors as plain text. HTML pages and errors of other protocols are
/// left as they are.
pub(crate) fn explains_nothing<B>(answer: &Response<B>) -> bool {
    let content_type = answer.headers().get(CONTENT_TYPE);
    let is_text = content_type.is_none_or(|value| ContentType::new(value.as_bytes()).is("text/plain"));
    is_text && is_error(answer.status())
}

/// Returns `true` if a response is an error with the media type `application/problem+json`,
/// compared without case and parameters.
#[must_use]
pub fn is_problem<B>(answer: &Response<B>) -> bool {
    let content_type = answer.headers().get(CONTENT_TYPE);
    is_error(answer.status())
        && content_type.is_some_and(|value| ContentType::new(value.as_bytes()).is("application/problem+json"))
}

/// Adds `instance` and `request_id` to a problem document that lacks them.
pub(crate) fn completed_content(answer: Response<Bytes>, target: &Uri, id: &RequestId) -> Response<Bytes> {
    // other content is never parsed, whatever its size
    if !is_problem(&answer) {
        return answer;
    }
    let Ok(written) = ReceivedProblem::parse(answer.body()) else {
        return answer;
    };
    let mut content = answer.body().clone();
    if let (None, Some(instance)) = (written.instance(), instance(target)) {
        content = write::with_member(&content, "instance", &instance);
    }
    if written.extension(REQUEST_ID).is_none() {
        content = write::with_member(&content, REQUEST_ID, id.as_str());
    }
    let is_changed = content != *answer.body();
    let mut answer = answer.map(|_| content);
    for of_bytes in OF_BYTES.iter().filter(|_| is_changed) {
        answer.headers_mut().remove(of_bytes);
    }
    answer
}

/// The `instance` for a target; `None` if its path is empty or too long.
fn instance(target: &Uri) -> Option<String> {
    let path = target.path();
    (1..=LONGEST_INSTANCE)
        .contains(&path.len())
        .then(|| uri_reference(path))
}

fn is_error(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// Converts a path to a URI reference: `http::Uri` accepts bytes that RFC 3986 forbids.
fn uri_reference(path: &str) -> String {
    let mut text = Vec::with_capacity(path.len());
    for byte in path.bytes() {
        match is_uri_byte(byte) && !b"[]#".contains(&byte) {
            true => text.push(byte),
            false => push_percent_encoded(&mut text, byte),
        }
    }
    // two leading slashes would start an authority
    if text.starts_with(b"//") {
        text.splice(..0, *b"/.");
    }
    String::from_utf8(text).unwrap_or_default()
}
