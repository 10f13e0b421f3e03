//! Which bodies are read, and which a foreign page could have sent.
//!
//! A browser sends a POST of `application/x-www-form-urlencoded`, `multipart/form-data`, `text/plain` or of no type at all to
//! any site without asking it first. Such a request must show that a script of an allowed origin made it, by a header that
//! needs a preflight. A GET needs none: it never runs a mutation.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::refusal::Refusal;

const PREFLIGHT: [&str; 2] = ["graphql-require-preflight", "apollo-require-preflight"];

/// Whether the body of a POST may be read as JSON.
pub(super) fn check(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut values = headers.get_all(CONTENT_TYPE).into_iter();
    let declared = values
        .next()
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if values.next().is_some() {
        return Err(Refusal::bad_request("more than one content type"));
    }
    // as most clients write it
    if declared != "application/json" {
        json(declared, headers)?;
    }
    let mut codings = headers.get_all(CONTENT_ENCODING).into_iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Refusal::coded_content());
    }
    Ok(())
}

/// Whether the content type `declared` is JSON in UTF-8.
fn json(declared: &str, headers: &HeaderMap) -> Result<(), Refusal> {
    let mut parts = declared.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    if is_simple(media_type) && !PREFLIGHT.iter().any(|name| headers.contains_key(*name)) {
        return Err(Refusal::bad_request(
            "this content type needs the header `GraphQL-Require-Preflight`",
        ));
    }
    if !media_type.eq_ignore_ascii_case("application/json") || !parts.all(is_utf8) {
        return Err(Refusal::unsupported_media_type());
    }
    Ok(())
}

fn is_simple(media_type: &str) -> bool {
    let simple = [
        "",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain",
    ];
    simple
        .iter()
        .any(|simple| media_type.eq_ignore_ascii_case(simple))
}

/// Whether `parameter` is not a charset, or is UTF-8.
fn is_utf8(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return true;
    };
    let value = value.trim().trim_matches('"');
    !name.trim().eq_ignore_ascii_case("charset")
        || value.eq_ignore_ascii_case("utf-8")
        || value.eq_ignore_ascii_case("utf8")
}
