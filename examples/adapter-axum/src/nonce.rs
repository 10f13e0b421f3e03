//! The nonce for a caller's next proof, on its way from the extractor to the answer.

use std::sync::{Arc, OnceLock};

use http::header::CACHE_CONTROL;
use http::{HeaderValue, request::Parts};
use http_conventions::cache_control::CacheControl;
use http_conventions::pipeline::Exchange;
use oauth_core::dpop::NONCE_HEADER;
use oauth_core::resource::Principal;

/// What the answer to one request has to hand out; the layer makes it, an extractor fills it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextNonce(Arc<OnceLock<HeaderValue>>);

impl NextNonce {
    /// Notes what the caller needs.
    pub(crate) fn note(parts: &Parts, caller: &Principal) {
        if let (Some(Self(slot)), Some(nonce)) = (parts.extensions.get(), caller.dpop_nonce()) {
            // a second extractor has proved nothing new
            slot.get_or_init(|| nonce.clone());
        }
    }

    /// Has every exit of the exchange hand it out, from no cache
    /// ([RFC 9449 §8.2](https://www.rfc-editor.org/rfc/rfc9449#section-8.2)).
    pub(crate) fn hand_out<Stage>(&self, exchange: &mut Exchange<Stage>) {
        if let Some(nonce) = self.0.get() {
            exchange.set_header(NONCE_HEADER, nonce.clone());
            exchange.set_header(CACHE_CONTROL, CacheControl::no_store().header_value());
        }
    }
}
