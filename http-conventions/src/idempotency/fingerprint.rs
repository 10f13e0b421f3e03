//! Fingerprints of requests.

use http::{Request, header::CONTENT_TYPE};
use sha2::{Digest as _, Sha256};

use crate::{byte_strings::byte_string, digest::LengthPrefixed as _, versions::ApiVersion};

byte_string! {
    /// SHA-256 of a request: method, path and query, content type and exact body.
    ///
    /// - Each part is prefixed with its length, so that different requests never have the same
    ///   input.
    /// - Preferences for the response (`Accept`, `Accept-Language`) are excluded: a retry gets the
    ///   first response unchanged.
    /// - In the [pipeline](crate::pipeline) an API version that a header field of the request names
    ///   is included: a request for another version does not match. A version from a default or
    ///   from the pin of an account is excluded.
    #[derive(Clone, Copy, Eq, Hash, PartialEq)]
    pub struct Fingerprint(32);
}

impl Fingerprint {
    /// Fingerprint of a request.
    #[must_use]
    pub fn of<B: AsRef<[u8]>>(request: &Request<B>) -> Self {
        Self::with_version(request, None)
    }

    /// Fingerprint of a request with this version in a header field.
    pub(super) fn with_version<B: AsRef<[u8]>>(request: &Request<B>, version: Option<ApiVersion>) -> Self {
        let target = request
            .uri()
            .path_and_query()
            .map_or("", |target| target.as_str());
        let content_type = request
            .headers()
            .get(CONTENT_TYPE)
            .map_or(&[][..], |value| value.as_bytes());
        let digest = Sha256::new_with_prefix(b"idempotency fingerprint 1")
            .chain_field(request.method().as_str().as_bytes())
            .chain_field(target.as_bytes())
            .chain_field(content_type)
            .chain_field(request.body().as_ref());
        let digest = match version {
            Some(version) => digest.chain_field(version.to_string().as_bytes()),
            None => digest,
        };
        Self(digest.finalize().into())
    }
}
