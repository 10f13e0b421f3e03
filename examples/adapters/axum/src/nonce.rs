//! The nonce for a caller's next proof, on its way from the extractor to the answer.

use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use http_conventions::pipeline::Exchange;

/// What the answer to one request has to hand out; the layer makes it, an extractor fills it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextNonce(Arc<OnceLock<HeaderMap>>);

impl NextNonce {
    /// Notes the headers that the caller needs.
    #[cfg(feature = "oauth")]
    pub(crate) fn note(parts: &http::request::Parts, caller: &oauth_core::resource::AuthenticatedToken) {
        if let (Some(Self(slot)), Some(_)) = (parts.extensions.get(), caller.dpop_nonce()) {
            // a second extractor has proved nothing new
            slot.get_or_init(|| caller.headers());
        }
    }

    /// Has every exit of the exchange hand it out.
    pub(crate) fn hand_out<Stage>(&self, exchange: &mut Exchange<Stage>) {
        for (name, value) in self.0.get().into_iter().flatten() {
            exchange.set_header(name.clone(), value.clone());
        }
    }
}
