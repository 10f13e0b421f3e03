//! A connection to a vetted address, and the outcome of a request on it.

mod http1;
mod http2;

use std::sync::Arc;
use std::time::Duration;

use host_ports::TransportError;
use http::Method;

pub(crate) use http1::Http1;
pub(crate) use http2::Http2;

/// Time for a connection that is no longer used to say goodbye.
const LINGER: Duration = Duration::from_secs(1);

/// A connection that a request can be sent on.
pub(crate) enum Connection {
    /// For one exchange at a time.
    Http1(Http1),
    /// For concurrent exchanges.
    Http2(Arc<Http2>),
}

/// A request without a response head.
pub(crate) struct Failure {
    pub(crate) error: TransportError,
    fate: Fate,
}

/// The known fate of a failed request.
enum Fate {
    /// The server has processed nothing of it: no byte was written, or the server said so.
    Unprocessed,
    /// The connection failed before the first byte of a response.
    Unanswered,
    /// The server may have processed it.
    Unknown,
}

impl Failure {
    fn new(error: hyper::Error, fate: Fate) -> Self {
        let error = if error.is_parse_too_large() {
            TransportError::too_large()
        } else {
            TransportError::other(error)
        };
        Self { error, fate }
    }

    /// A request that cannot be written.
    pub(crate) fn before(error: TransportError) -> Self {
        let fate = Fate::Unknown;
        Self { error, fate }
    }

    /// Returns `true` if the request can be sent again on another connection ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)): the server has not processed
    /// it, or the method is idempotent and nothing was answered.
    pub(crate) fn is_retryable(&self, method: &Method) -> bool {
        match self.fate {
            Fate::Unprocessed => true,
            Fate::Unanswered => method.is_idempotent(),
            Fate::Unknown => false,
        }
    }
}
