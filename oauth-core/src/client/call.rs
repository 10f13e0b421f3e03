//! Requests to a server, and their typed responses.

use std::error::Error;
use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use http::{Request, Response};

use super::draft::Draft;
use super::{NotOffered, Ports};
use crate::exchange::{exchange, refuse_truncated};
use crate::jose::SigningError;
use crate::ports::{Entropy, TransportError};

/// Typed response to a [`Call`], for example [`TokenResponse`](super::TokenResponse) or
/// [`UserInfo`](super::UserInfo).
///
/// The trait is sealed.
pub trait CallResponse: sealed::Sealed + Sized + Send {
    /// Error for an unusable response.
    type Error: Error + Send + Sync + 'static;

    #[doc(hidden)]
    type Expected: Send + Sync;

    #[doc(hidden)]
    fn read(
        response: Response<Bytes>,
        expected: Self::Expected,
        now: SystemTime,
    ) -> Result<Self, Self::Error>;
}

pub(super) mod sealed {
    #[expect(unnameable_types, reason = "the trait is sealed")]
    pub trait Sealed {}
}

/// A request to a server that has not been sent yet.
///
/// [`send`](Self::send) sends it through the host's [`Ports`](super::Ports). A host with its own
/// HTTP code calls [`start`](Self::start), which returns the request and a [`Pending`] for the
/// response:
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use http::Response;
/// # use oauth_core::client::{Client, Provider};
/// # use oauth_core::ports::OsEntropy;
/// # let provider = Provider::new(
/// #     "https://as.example".parse()?,
/// #     "https://as.example/authorize".parse()?,
/// #     "https://as.example/token".parse()?,
/// # );
/// # let client = Client::new(provider, "demo-native".parse()?);
/// # let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// # let body = b"{\"access_token\":\"at\",\"token_type\":\"Bearer\"}";
/// # let exchange = |_| Response::new(bytes::Bytes::from_static(body));
/// let call = client.refresh(&"rt_1".parse()?, &"read:charges".parse()?);
/// let (request, mut pending) = call.start(&OsEntropy, now)?;
/// let mut response = exchange(request);
/// if let Some(again) = pending.retry(&response, &OsEntropy, now)? {
///     response = exchange(again);
/// }
/// let tokens = pending.finish(response, now)?;
/// # assert_eq!(tokens.access_token().expose(), "at");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing was sent yet"]
pub struct Call<A: CallResponse> {
    pub(super) draft: Draft,
    pub(super) expected: A::Expected,
}

/// A sent [`Call`] that waits for its response.
pub struct Pending<A: CallResponse> {
    call: Call<A>,
    retried: bool,
    signed: SystemTime,
}

/// Failure of a sent [`Call`].
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum CallError<E: Error + 'static> {
    /// No response arrived. The server may have processed the request.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The request could not be signed and was not sent.
    #[error(transparent)]
    Signing(#[from] SigningError),
    /// The server does not support this request. The request was not sent.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// The server refused, or its response is unusable.
    #[error(transparent)]
    Response(E),
}

impl<A: CallResponse> Call<A> {
    /// Returns the request to send, and the value that reads its response.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the key of the client or its DPoP key cannot sign.
    pub fn start(
        self,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> Result<(Request<Bytes>, Pending<A>), SigningError> {
        let request = self.draft.sign(None, entropy, now)?;
        let pending = Pending {
            call: self,
            retried: false,
            signed: now,
        };
        Ok((request, pending))
    }

    /// Sends the request and reads the response. Sends a second request, with the server's nonce,
    /// if the server requires a nonce in the DPoP proof.
    ///
    /// # Errors
    ///
    /// [`CallError`] when the request could not be signed, the server did not respond or refused,
    /// or the response is unusable.
    pub async fn send(self, ports: &Ports) -> Result<A, CallError<A::Error>> {
        let (request, mut pending) = self.start(ports.entropy(), ports.now())?;
        let mut response = exchange(&ports.transport, request).await?;
        if let Some(again) = pending.retry(&response, ports.entropy(), ports.now())? {
            response = exchange(&ports.transport, again).await?;
        }
        pending.finish(response, ports.now()).map_err(CallError::Response)
    }
}

impl<A: CallResponse> Pending<A> {
    /// Returns the request to send again if the server requires the nonce of this response in the
    /// DPoP proof ([RFC 9449 §8](https://www.rfc-editor.org/rfc/rfc9449#section-8)); otherwise
    /// `None`. The new request has a new proof. It is returned at most once: if the server requires
    /// another nonce, [`finish`](Self::finish) reports a refusal.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the key of the client or its DPoP key cannot sign.
    pub fn retry(
        &mut self,
        response: &Response<Bytes>,
        entropy: &dyn Entropy,
        now: SystemTime,
    ) -> Result<Option<Request<Bytes>>, SigningError> {
        let nonce = self.call.draft.wanted_nonce(response);
        let Some(nonce) = nonce.filter(|_| !self.retried) else {
            return Ok(None);
        };
        self.retried = true;
        self.signed = now;
        self.call.draft.sign(Some(nonce), entropy, now).map(Some)
    }

    /// Reads the response. Lifetimes in the response count from the time of the request, or from
    /// `now` if the clock was set back since then.
    ///
    /// # Errors
    ///
    /// [`CallResponse::Error`] when the server refused, or its response is unusable.
    pub fn finish(self, mut response: Response<Bytes>, now: SystemTime) -> Result<A, A::Error> {
        self.call.draft.learn(&response);
        // a truncated body is not parsed
        if refuse_truncated(&response).is_err() {
            *response.body_mut() = Bytes::new();
        }
        A::read(response, self.call.expected, now.min(self.signed))
    }
}

impl<A: CallResponse> fmt::Debug for Call<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("target", self.draft.target())
            .finish_non_exhaustive()
    }
}

impl<A: CallResponse> fmt::Debug for Pending<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("target", self.call.draft.target())
            .finish_non_exhaustive()
    }
}
