//! What makes two requests the same.

use http::{Request, header::CONTENT_TYPE};
use sha2::{Digest as _, Sha256};

use crate::{byte_strings::byte_string, digest::LengthPrefixed as _, versions::ApiVersion};

byte_string! {
    /// The SHA-256 of a request: its method, path and query, content type and exact body.
    ///
    /// Each part goes in with its length, so that no two requests are the same by moving a byte from one part to the next.
    ///
    /// What a request prefers of its answer (`Accept`, `Accept-Language`) is no part of it: the first answer is sent again as it was
    /// made. The version of the API that a field names is, in the [pipeline](crate::pipeline), which knows that field: whoever
    /// asks for another one gets no answer in the form of the first. A version that no request names may move between two of
    /// them, with a default or the pin of an account, and changes nothing.
    #[derive(Clone, Copy, Eq, Hash, PartialEq)]
    pub struct Fingerprint(32);
}

impl Fingerprint {
    /// The fingerprint of a request.
    #[must_use]
    pub fn of<B: AsRef<[u8]>>(request: &Request<B>) -> Self {
        Self::naming(request, None)
    }

    /// The fingerprint of a request that names this version in a field.
    pub(super) fn naming<B: AsRef<[u8]>>(request: &Request<B>, version: Option<ApiVersion>) -> Self {
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
