//! API calls with an access token, [RFC 6750
//! §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1) and [RFC 9449
//! §7](https://www.rfc-editor.org/rfc/rfc9449#section-7).

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
    /// Prepares a request to an API: adds the access token in `Authorization`, and a DPoP proof if
    /// the token is bound to a key. The host reads the response of any status. After a 401 the
    /// token may need a [refresh](super::Client::refresh);
    /// [`TokenSource::call`](super::TokenSource::call) refreshes and retries.
    ///
    /// A response body of more than 64 KiB, or an exchange of more than ten seconds, is an error.
    /// An [`ExchangeLimits`](crate::ports::ExchangeLimits) in the extensions of the request sets
    /// other limits.
    ///
    /// # Errors
    ///
    /// [`InvalidEndpoint`] when the URL is neither an absolute `https` URL nor a loopback `http`
    /// URL: the request would send the token in plain text.
    ///
    /// # Security
    ///
    /// The receiver of the request gets the token. Call only the API for which it was issued, and
    /// do not follow redirects.
    pub fn call(&self, request: Request<Bytes>) -> Result<Call<Response<Bytes>>, InvalidEndpoint> {
        let target = target(request.uri()).ok_or(InvalidEndpoint)?;
        let dpop = self.expected.client.inner.dpop.as_ref();
        Ok(Call {
            draft: Draft::of_token(&self.access_token, dpop, target, request),
            expected: (),
        })
    }
}

/// Target of a request with a token: `https`, or `http` on a loopback address.
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
