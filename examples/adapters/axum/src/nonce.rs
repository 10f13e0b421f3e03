//! The nonce for the caller's next DPoP proof, passed from the extractor to the response.

use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use http_conventions::pipeline::Exchange;

/// Headers to add to the response of one request; the layer creates the slot, an extractor fills
/// it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextNonce(Arc<OnceLock<HeaderMap>>);

impl NextNonce {
    /// Records the headers for the caller.
    #[cfg(feature = "oauth")]
    pub(crate) fn note(parts: &http::request::Parts, caller: &oauth_core::resource::AuthenticatedToken) {
        if let (Some(Self(slot)), Some(_)) = (parts.extensions.get(), caller.dpop_nonce()) {
            // a second extractor sees the same proof
            slot.get_or_init(|| caller.headers());
        }
    }

    /// Adds the headers to every response of the exchange.
    pub(crate) fn hand_out<Stage>(&self, exchange: &mut Exchange<Stage>) {
        for (name, value) in self.0.get().into_iter().flatten() {
            exchange.set_header(name.clone(), value.clone());
        }
    }
}
