//! What this crate asks of its host: the time, randomness and, where another server has to be asked, an exchange with it.
//!
//! Storage has its own traits beside the logic that calls them.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use oauth_core::ports::Clock;
//!
//! let stopped = || SystemTime::UNIX_EPOCH + Duration::from_secs(60);
//! assert_eq!(stopped.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(60));
//! ```

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};

/// Tells the wall-clock time.
///
/// Need not be monotonic. Any `Fn() -> SystemTime` is a clock, so `SystemTime::now` is one.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;
}

impl<F> Clock for F
where
    F: Fn() -> SystemTime + Send + Sync,
{
    fn now(&self) -> SystemTime {
        self()
    }
}

/// Supplies unpredictable bytes.
///
/// # Security
///
/// Codes, tokens and verifiers are made of these bytes: only a cryptographically secure generator will do. A
/// host that has no randomness must not run, so there is no error to report.
pub trait Entropy: Send + Sync {
    /// Overwrites all of `bytes` with random ones.
    fn fill(&self, bytes: &mut [u8]);
}

impl<F> Entropy for F
where
    F: Fn(&mut [u8]) + Send + Sync,
{
    fn fill(&self, bytes: &mut [u8]) {
        self(bytes);
    }
}

/// Sends one request and gives its response.
///
/// Any `Fn(Request<Bytes>) -> impl Future<Output = Result<Response<Bytes>, TransportError>> + Send` is one.
///
/// # What an implementation must guarantee
///
/// - **TLS**, with the certificate of the host checked, for `https`.
/// - **No redirects.** A 3xx answer is returned as it came: the request may carry a secret for nobody else.
/// - **A deadline** for the whole exchange, after which it is an error.
/// - **A cap of the body**: 64 KiB are enough. A longer one is an error.
/// - **Every status is a response.** A 404 or a 503 is not an error.
/// - **No private networks** where issuers are chosen by others than the host: addresses of this machine, of private networks and of
///   the link are refused after the name was resolved, and the connection goes to the address that was looked at. What asks is inside;
///   who chose the issuer is not.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Does one exchange.
    ///
    /// # Errors
    ///
    /// When no complete response arrived.
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError>;
}

#[async_trait]
impl<F, Fut> Transport for F
where
    F: Fn(Request<Bytes>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Response<Bytes>, TransportError>> + Send,
{
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self(request).await
    }
}

/// An exchange that gave no response.
#[derive(Debug)]
pub struct TransportError {
    source: Box<dyn Error + Send + Sync>,
}

impl TransportError {
    /// A failure of what carries requests.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server could not be reached")
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// The operating system's random number generator.
#[cfg(feature = "os-entropy")]
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

#[cfg(feature = "os-entropy")]
impl Entropy for OsEntropy {
    #[expect(
        clippy::expect_used,
        reason = "a process that cannot draw random bytes must not issue tokens"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system supplies random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "os-entropy")]
    #[test]
    fn the_system_fills_every_call_differently() {
        let (mut first, mut second) = ([0; 32], [0; 32]);
        OsEntropy.fill(&mut first);
        OsEntropy.fill(&mut second);
        assert_ne!(first, second);
    }

    #[test]
    fn closures_are_ports() {
        fn takes(_: &dyn Clock, _: &dyn Entropy) {}
        takes(&|| SystemTime::UNIX_EPOCH, &|bytes: &mut [u8]| bytes.fill(7));
    }
}
