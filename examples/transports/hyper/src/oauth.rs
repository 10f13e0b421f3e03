//! The same way out for a client of an authorization server, and for an API that asks one.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use oauth_core::ports::{Transport, TransportError};
use webhook_core::ports::ExchangeLimits;

use crate::HyperTransport;
use crate::transport::{Content, in_time};

/// What a server says is read whole or not at all: half a key set is none.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off, or is longer than 64 KiB")]
struct Cut;

#[async_trait]
impl Transport for HyperTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let limits = ExchangeLimits::default();
        let response = in_time(self.exchange(request, limits), limits).await;
        let (head, content) = response.map_err(TransportError::new)?.into_parts();
        match content {
            Content::Whole(body) => Ok(Response::from_parts(head, body)),
            Content::Part(_) => Err(TransportError::new(Cut)),
        }
    }
}
