//! One request to a server, and what its answer must fit.

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

/// Typed response to a [`Call`]: [`TokenResponse`](super::TokenResponse), [`UserInfo`](super::UserInfo), …
///
/// The trait is sealed.
pub trait CallResponse: sealed::Sealed + Sized + Send {
    /// Error for a response that cannot be used.
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
    #[expect(unnameable_types, reason = "nobody else implements what asks for it")]
    pub trait Sealed {}
}

/// One request to a server, which has yet to be sent.
///
/// There are two ways to send it. [`send`](Self::send) does everything. Where the host does its own HTTP, [`start`](Self::start) gives
/// the request and a [`Pending`] that takes the answer:
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use http::Response;
/// # use oauth_core::client::{Client, Provider};
/// # use oauth_core::ports::OsEntropy;
/// # let provider = Provider::new("https://as.example".parse()?, "https://as.example/authorize".parse()?, "https://as.example/token".parse()?);
/// # let client = Client::new(provider, "demo-native".parse()?);
/// # let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// # let exchange = |_| Response::new(bytes::Bytes::from_static(b"{\"access_token\":\"at\",\"token_type\":\"Bearer\"}"));
/// let (request, mut pending) = client.refresh(&"rt_1".parse()?, &"read:charges".parse()?).start(&OsEntropy, now)?;
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

/// A [`Call`] that is on its way.
pub struct Pending<A: CallResponse> {
    call: Call<A>,
    retried: bool,
    signed: SystemTime,
}

/// Why a [`Call`] that was sent brought nothing back.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum CallError<E: Error + 'static> {
    /// There was no answer. Whether the server saw the request is unknown.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The request could not be signed, and was not sent.
    #[error(transparent)]
    Signing(#[from] SigningError),
    /// The server does not take such a request, and it was not sent.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// There was an answer, and it is none that can be used.
    #[error(transparent)]
    Response(E),
}

impl<A: CallResponse> Call<A> {
    /// The request to send now, and what takes the answer.
    ///
    /// # Errors
    ///
    /// The key of the client or of its proofs failed to sign.
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

    /// Sends it, once more where the server wants a nonce in the proof of possession, and reads the answer.
    ///
    /// # Errors
    ///
    /// There was no answer, or none that can be used.
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
    /// The request once more, where the server answered that its proof of possession needs the nonce that came with the answer
    /// ([RFC 9449 §8](https://www.rfc-editor.org/rfc/rfc9449#section-8)). It is signed anew, and there is one at most: a server that
    /// asks for a nonce again is refusing.
    ///
    /// # Errors
    ///
    /// The key of the client or of its proofs failed to sign.
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

    /// Takes the answer. What it says to last for a while is counted from when the request was made, however late its answer is taken, or
    /// from `now` where the clock was set back meanwhile.
    ///
    /// # Errors
    ///
    /// It is none that can be used.
    pub fn finish(self, mut response: Response<Bytes>, now: SystemTime) -> Result<A, A::Error> {
        self.call.draft.learn(&response);
        // half a body is not read, whoever sent the request
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
