//! Calls to an API, [RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1) and
//! [RFC 9449 §7](https://www.rfc-editor.org/rfc/rfc9449#section-7).

use std::convert::Infallible;
use std::time::SystemTime;

use bytes::Bytes;
use http::{Request, Response, Uri};

use super::call::{CallResponse, sealed};
use super::draft::Draft;
use super::{Call, TokenResponse};
use crate::dpop::Htu;
use crate::vocabulary::InvalidEndpoint;

impl TokenResponse {
    /// A request to an API with the access token: in `Authorization`, and with a proof of possession where the token is bound to a key.
    /// What the API answers is the host's to read, whatever its status; after a 401 the token may have to be
    /// [refreshed](super::Client::refresh).
    ///
    /// # Errors
    ///
    /// The request is not for an absolute `https` URL, or an `http` one on the loopback interface: the token would be anybody's.
    ///
    /// # Security
    ///
    /// Whoever is asked gets the token: ask nobody but the API that it is for, and let no redirect be followed.
    pub fn call(&self, request: Request<Bytes>) -> Result<Call<Response<Bytes>>, InvalidEndpoint> {
        let target = target(request.uri()).ok_or(InvalidEndpoint)?;
        let dpop = self.expected.client.inner.dpop.as_ref();
        Ok(Call {
            draft: Draft::of_token(&self.access_token, dpop, target, request),
            expected: (),
        })
    }
}

/// Where a token may be sent: behind TLS, or to this machine itself.
fn target(uri: &Uri) -> Option<Htu> {
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let target: Htu = format!("{scheme}://{authority}{}", uri.path()).parse().ok()?;
    target.keeps_secrets().then_some(target)
}

impl sealed::Sealed for Response<Bytes> {}

impl CallResponse for Response<Bytes> {
    type Error = Infallible;
    type Expected = ();

    fn read(response: Self, (): (), _now: SystemTime) -> Result<Self, Infallible> {
        Ok(response)
    }
}
