//! What makes two requests the same.

use http::{Request, header::CONTENT_TYPE};
use sha2::{Digest as _, Sha256};

use crate::{byte_strings::byte_string, digest::LengthPrefixed as _};

byte_string! {
    /// The SHA-256 of a request: its method, path and query, content type and exact body.
    ///
    /// Each part goes in with its length, so that no two requests are the same by moving a byte from one part to the next.
    #[derive(Clone, Copy, Eq, Hash, PartialEq)]
    pub struct Fingerprint(32);
}

impl Fingerprint {
    /// The fingerprint of a request.
    #[must_use]
    pub fn of<B: AsRef<[u8]>>(request: &Request<B>) -> Self {
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
        Self(digest.finalize().into())
    }
}
