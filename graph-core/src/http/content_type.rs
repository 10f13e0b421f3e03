//! Content type checks and CSRF protection of a POST.
//!
//! A browser sends a cross-site POST without a preflight if the content type is absent or one of
//! `application/x-www-form-urlencoded`, `multipart/form-data` and `text/plain`. Such a POST needs
//! an additional header that requires a preflight: a browser then sends the POST only for an origin
//! that the server allows. A GET needs no such header, because it never executes a mutation.

use host_ports::ContentType;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::refusal::Refusal;

const PREFLIGHT: [&str; 2] = ["graphql-require-preflight", "apollo-require-preflight"];

/// Checks that the body of a POST may be parsed as JSON.
pub(super) fn check(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut values = headers.get_all(CONTENT_TYPE).into_iter();
    let declared = values.next().map(|value| value.as_bytes()).unwrap_or_default();
    if values.next().is_some() {
        return Err(Refusal::bad_request("more than one content type"));
    }
    // fast path for the most common value
    if declared != b"application/json" {
        json(ContentType::new(declared), headers)?;
    }
    let mut codings = headers.get_all(CONTENT_ENCODING).into_iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Refusal::coded_content());
    }
    Ok(())
}

/// Refuses a content type other than JSON in UTF-8.
fn json(declared: ContentType<'_>, headers: &HeaderMap) -> Result<(), Refusal> {
    if is_simple(declared) && !PREFLIGHT.iter().any(|name| headers.contains_key(*name)) {
        return Err(Refusal::bad_request(
            "this content type needs the header `GraphQL-Require-Preflight`",
        ));
    }
    if !declared.is("application/json") || !declared.is_utf8() {
        return Err(Refusal::unsupported_media_type());
    }
    Ok(())
}

/// Returns `true` for a type that a page of another origin can send without a preflight.
fn is_simple(declared: ContentType<'_>) -> bool {
    let simple = [
        "",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain",
    ];
    simple.iter().any(|simple| declared.is(simple))
}
