//! What only the exit of a host knows about a problem: which request it belongs to.

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
    routing::RequestId,
    uri::{is_uri_byte, push_percent_encoded},
};

const REQUEST_ID: &str = "request_id";
/// What a target may be long that is repeated to its sender; one that is refused for its length is not.
const LONGEST_INSTANCE: usize = 2 << 10;
/// Fields about the bytes of the content, which do not hold of others.
static OF_BYTES: [HeaderName; 5] = [
    CONTENT_LENGTH,
    ETAG,
    LAST_MODIFIED,
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

impl Problem {
    /// Of this target, unless it names its instance, and of this request.
    pub(crate) fn completed(mut self, target: &Uri, id: &RequestId) -> Self {
        if self.0.instance.is_none() {
            self.0.instance = instance(target).map(Cow::Owned);
        }
        self.with_request_id(id)
    }

    /// The problem of an answer whose status is an error and whose content explains nothing, in place of that content. What the
    /// status owes is taken from the answer where it has it; a 401 without a challenge gets this one.
    pub(crate) fn explaining<B>(answer: &Response<B>, challenge: Option<&Challenge>) -> Self {
        let status = answer.status();
        let problem = match status {
            // these two have a wait, which the answer may know better
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

    /// The answer with this problem as its content, and the fields that it had.
    pub(crate) fn replace_content<B>(self, answer: Response<B>) -> Response<Bytes> {
        let mut replaced = self.into_response();
        let mut fields = answer.into_parts().0.headers;
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
        // a field of the answer takes the place of the problem's
        for name in fields.keys() {
            replaced.headers_mut().remove(name);
        }
        fields.extend(std::mem::take(replaced.headers_mut()));
        *replaced.headers_mut() = fields;
        replaced
    }
}

/// Whether an answer is an error whose content says nothing that a client could read: it has none, or it is text, as frameworks
/// write theirs. A page for people, or an error of another protocol, is left as it is.
pub(crate) fn explains_nothing<B>(answer: &Response<B>) -> bool {
    let content_type = answer.headers().get(CONTENT_TYPE);
    let is_text = content_type.is_none_or(|value| ContentType::new(value.as_bytes()).is("text/plain"));
    is_text && is_error(answer.status())
}

/// Whether an answer is an error whose content says that it is a problem, in any case and with any parameters.
#[must_use]
pub fn is_problem<B>(answer: &Response<B>) -> bool {
    let content_type = answer.headers().get(CONTENT_TYPE);
    is_error(answer.status())
        && content_type.is_some_and(|value| ContentType::new(value.as_bytes()).is("application/problem+json"))
}

/// Adds the `instance` and the `request_id` to a problem that was written without them.
pub(crate) fn completed_content(answer: Response<Bytes>, target: &Uri, id: &RequestId) -> Response<Bytes> {
    // what is none is not read, however long it is
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

/// What a problem of this target is an instance of, where that is worth saying.
fn instance(target: &Uri) -> Option<String> {
    let path = target.path();
    (1..=LONGEST_INSTANCE)
        .contains(&path.len())
        .then(|| uri_reference(path))
}

fn is_error(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// A path as a URI reference: `http` lets characters pass that a URI does not have.
fn uri_reference(path: &str) -> String {
    let mut text = Vec::with_capacity(path.len());
    for byte in path.bytes() {
        match is_uri_byte(byte) && !b"[]#".contains(&byte) {
            true => text.push(byte),
            false => push_percent_encoded(&mut text, byte),
        }
    }
    // two slashes would begin with a host
    if text.starts_with(b"//") {
        text.splice(..0, *b"/.");
    }
    String::from_utf8(text).unwrap_or_default()
}
