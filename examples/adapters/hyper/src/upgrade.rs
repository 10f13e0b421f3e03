//! WebSockets, if the feature is on.

#[cfg(feature = "websocket")]
pub(crate) use host_websocket::hyper::Switch;

/// Replaces a 101, which this build cannot serve, by an error.
#[cfg(not(feature = "websocket"))]
#[derive(Clone, Default)]
pub(crate) struct Switch;

#[cfg(not(feature = "websocket"))]
impl Switch {
    #[expect(clippy::unused_self, reason = "the signature of the real one")]
    pub(crate) fn spelled<S>(&self, stream: S) -> S {
        stream
    }

    #[expect(clippy::unused_self, reason = "the signature of the real one")]
    pub(crate) fn complete<B>(
        &self,
        response: http::Response<B>,
        _head: &http::Request<()>,
        _upgraded: hyper::upgrade::OnUpgrade,
    ) -> Result<http::Response<B>, http::StatusCode> {
        match response.status() {
            http::StatusCode::SWITCHING_PROTOCOLS => Err(http::StatusCode::INTERNAL_SERVER_ERROR),
            _ => Ok(response),
        }
    }

    pub(crate) fn run(self) -> std::future::Ready<()> {
        std::future::ready(())
    }
}
