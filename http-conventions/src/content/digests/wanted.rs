//! Digests that a client asks for.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Response, StatusCode};

use super::{
    CONTENT_DIGEST, DigestAlgorithm, Digests, REPR_DIGEST, SHA_256, SHA_512, WANT_CONTENT_DIGEST,
    WANT_REPR_DIGEST,
};
use crate::structured::{Value, dictionary};

/// Adds the digests that the request asks for by `Want-Content-Digest` and `Want-Repr-Digest`.
///
/// - The supported algorithm with the highest preference is used; SHA-256 if both are equal. A
///   preference of 0 excludes an algorithm.
/// - `Repr-Digest` is added to a 200 only, whose content is the complete representation.
/// - A digest that the host has set stays. A malformed field asks for nothing.
///
/// ```
/// use bytes::Bytes;
/// use http::{HeaderMap, Response};
/// use http_conventions::content::{WANT_CONTENT_DIGEST, add_wanted_digests};
///
/// let mut request = HeaderMap::new();
/// request.insert(WANT_CONTENT_DIGEST, "sha=10, sha-512=1, sha-256=5".parse()?);
/// let mut response = Response::new(Bytes::from_static(b"{\"hello\": \"world\"}\n"));
/// add_wanted_digests(&request, &mut response);
/// assert_eq!(
///     response.headers()["content-digest"],
///     "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
/// );
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
///
/// # Contract
///
/// - Call it when the content is final. Only [compression](crate::content::Compression) may follow:
///   it replaces the digests by those of the compressed content, with the same algorithms.
/// - With [ranges](crate::caching::Preconditions::answer_ranges), call it twice: before them on the
///   complete 200, and after them on the result, because a 206 has the `Repr-Digest` of the 200 and
///   a `Content-Digest` of its own.
/// - For HEAD, pass a response with the complete content, as for GET.
pub fn add_wanted_digests(request: &HeaderMap, response: &mut Response<Bytes>) {
    let status = response.status();
    if status == StatusCode::NOT_MODIFIED || status == StatusCode::NO_CONTENT {
        return;
    }
    for (want, name, is_applicable) in [
        (&WANT_CONTENT_DIGEST, CONTENT_DIGEST, true),
        (&WANT_REPR_DIGEST, REPR_DIGEST, status == StatusCode::OK),
    ] {
        if !is_applicable || response.headers().contains_key(&name) {
            continue;
        }
        if let Some(algorithm) = preferred(request, want) {
            let digests = Digests::of(response.body(), algorithm);
            response.headers_mut().insert(name, digests.header_value());
        }
    }
}

/// The supported algorithm with the highest preference, 1 to 10.
fn preferred(request: &HeaderMap, want: &HeaderName) -> Option<DigestAlgorithm> {
    if !request.contains_key(want) {
        return None;
    }
    let (mut sha256, mut sha512) = (0, 0);
    let preference = |value| match value {
        Value::Integer(preference @ 1..=10) => preference,
        Value::Integer(_) | Value::Bytes(_) | Value::Other => 0,
    };
    dictionary(request, want, |key, value| match key {
        SHA_256 => sha256 = preference(value),
        SHA_512 => sha512 = preference(value),
        _ => {}
    })
    .ok()?;
    match (sha256, sha512) {
        (0, 0) => None,
        (sha256, sha512) if sha256 >= sha512 => Some(DigestAlgorithm::Sha256),
        _ => Some(DigestAlgorithm::Sha512),
    }
}
