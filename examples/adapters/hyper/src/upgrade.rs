//! WebSockets, if the feature is on.

#[cfg(feature = "websocket")]
pub(crate) use host_websocket::hyper::Switch;

/// Leaves every connection as it is.
#[cfg(not(feature = "websocket"))]
#[derive(Clone, Default)]
pub(crate) struct Switch;

#[cfg(not(feature = "websocket"))]
impl Switch {
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the signature of the real one"
    )]
    pub(crate) fn over<B>(
        &self,
        response: http::Response<B>,
        _head: &http::Request<()>,
        _upgraded: hyper::upgrade::OnUpgrade,
    ) -> Result<http::Response<B>, http::StatusCode> {
        Ok(response)
    }

    pub(crate) fn run(self) -> std::future::Ready<()> {
        std::future::ready(())
    }
}
