//! Explorer page for browsers: edits and runs operations, shows the schema. It loads no external
//! resources.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use http::{Response, StatusCode};
use sha2::{Digest as _, Sha256};

use super::response::{HTML, response};

const PAGE: &str = include_str!("explorer.html");

/// Content security policy: allows the page's script and style by hash, requests to its own origin,
/// and no frames.
static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let script = hash(between("<script>", "</script>")?);
    let style = hash(between("<style>", "</style>")?);
    let policy = format!(
        "default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).ok()
});

pub(crate) fn page() -> Response<Bytes> {
    let body = Bytes::from_static(PAGE.as_bytes());
    let mut response = response(StatusCode::OK, &HTML, body);
    if let Some(policy) = &*POLICY {
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy.clone());
    }
    response
}

fn between(start: &str, end: &str) -> Option<&'static str> {
    let (_, rest) = PAGE.split_once(start)?;
    rest.split_once(end).map(|(text, _)| text)
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
