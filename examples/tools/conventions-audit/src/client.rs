//! HTTP client that opens a new connection for each request.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Uri, header::HOST, uri::Authority};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

/// Timeout of an exchange.
const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST_ANSWER: usize = 16 << 20;

/// Client of one server.
#[derive(Clone, Debug)]
pub struct Client {
    authority: Authority,
    host: HeaderValue,
    headers: HeaderMap,
}

/// Failed request: the URL or path is malformed, or the server sent no complete response.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct NoAnswer(String);

impl Client {
    /// Creates a client of `http://host[:port]` that sends these headers with every request.
    ///
    /// # Errors
    ///
    /// `base` does not have this form.
    pub fn new(base: &str, headers: HeaderMap) -> Result<Self, NoAnswer> {
        let malformed = || NoAnswer(format!("{base:?} is not http://host:port"));
        let uri: Uri = base.trim_end_matches('/').parse().map_err(|_| malformed())?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http"));
        let authority = authority.ok_or_else(malformed)?;
        Ok(Self {
            host: authority.as_str().parse().map_err(|_| malformed())?,
            authority: authority.clone(),
            headers,
        })
    }

    /// Headers that the client sends with every request.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Sends a GET request for `path`.
    ///
    /// # Errors
    ///
    /// `path` is malformed; otherwise as for [`send`](Self::send).
    pub async fn get(&self, path: &str) -> Result<Response<Bytes>, NoAnswer> {
        let request = Request::get(path).body(Bytes::new());
        let mut request = request.map_err(|_| NoAnswer(format!("{path:?} is not a path")))?;
        *request.headers_mut() = self.headers.clone();
        self.send(request).await
    }

    /// Sends a request with the field `Host` added.
    ///
    /// # Errors
    ///
    /// The server sends no complete response within 10 s, a malformed response, or a body of more
    /// than 16 MiB.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, NoAnswer> {
        let sent = format!(
            "{} {}",
            request.method(),
            request.uri().to_string().escape_debug()
        );
        match timeout(PATIENCE, self.exchange(request)).await {
            Ok(answered) => answered.map_err(|error| NoAnswer(format!("{sent}: {error}"))),
            Err(_) => Err(NoAnswer(format!("{sent}: no answer in {PATIENCE:?}"))),
        }
    }

    async fn exchange(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<Bytes>, Box<dyn std::error::Error + Send + Sync>> {
        let port = self.authority.port_u16().unwrap_or(80);
        let host = self.authority.host().trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, port)).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        request.headers_mut().insert(HOST, self.host.clone());
        let (parts, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
        let body = Limited::new(body, LARGEST_ANSWER).collect().await?.to_bytes();
        connection.abort();
        Ok(Response::from_parts(parts, body))
    }
}
