//! One exchange: on a reused connection if there is one, else on a new one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_ports::address::{Host, Target};
use host_ports::{ExchangeLimits, TransportError, Truncated};
use http::{Request, Response};
use hyper::body::Incoming;
use rustls::pki_types::ServerName;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

use crate::Proxy;
use crate::connect::connect;
use crate::connection::{Connection, Failure, Http1, Http2};
use crate::head;
use crate::pool::{Pool, Route};
use crate::socket::Socket;
use crate::tls::HTTP_2;

/// Time to wait for a connection that another request opens and that both may share.
const OPENING: Duration = Duration::from_secs(1);

/// A request to a vetted target.
pub(crate) struct Exchange<'a> {
    pub(crate) request: &'a Request<Bytes>,
    pub(crate) target: &'a Target,
    /// All addresses of the target, vetted for this request.
    pub(crate) addresses: &'a [SocketAddr],
    pub(crate) route: Route,
    pub(crate) proxy: Option<&'a Proxy>,
    pub(crate) tls: &'a TlsConnector,
    pub(crate) pool: &'a Arc<Pool>,
}

/// A response whose body is not read yet.
pub(crate) struct Answered {
    response: Response<Incoming>,
    connection: Connection,
    route: Route,
    pool: Arc<Pool>,
}

impl Exchange<'_> {
    pub(crate) async fn send(self) -> Result<Answered, TransportError> {
        let (mut connection, is_reused) = self.connection().await?;
        let response = match self.send_on(&mut connection).await {
            Err(failure) if is_reused && failure.is_retryable(self.request.method()) => {
                connection = self.open().await?;
                self.send_on(&mut connection).await
            }
            sent => sent,
        };
        Ok(Answered {
            response: head::within_limits(response.map_err(|failure| failure.error)?)?,
            connection,
            route: self.route,
            pool: Arc::clone(self.pool),
        })
    }

    async fn send_on(&self, connection: &mut Connection) -> Result<Response<Incoming>, Failure> {
        match connection {
            Connection::Http1(connection) => {
                let request = head::http1(self.request, self.target);
                connection.send(request.map_err(Failure::before)?).await
            }
            Connection::Http2(connection) => connection.send(head::http2(self.request, self.target)).await,
        }
    }

    /// A connection of the pool, or a new one. The second value is `true` if it is reused.
    async fn connection(&self) -> Result<(Connection, bool), TransportError> {
        if let Some(reused) = self.reused().await {
            return Ok((reused, true));
        }
        let Some(opening) = self.pool.opening(&self.route) else {
            return Ok((self.open().await?, false));
        };
        // bounded: a connection that hangs must not hold up the others
        let turn = timeout(OPENING, opening.lock()).await;
        if let Some(shared) = self.reused().await {
            return Ok((shared, true));
        }
        if self.pool.opening(&self.route).is_none() {
            // the origin speaks HTTP/1.1, where each request needs a connection
            drop(turn);
        }
        Ok((self.open().await?, false))
    }

    async fn reused(&self) -> Option<Connection> {
        let reused = self.pool.checkout(&self.route)?;
        if let Connection::Http2(shared) = &reused {
            // lets the runtime see that the server has closed the connection meanwhile
            yield_now().await;
            if !shared.is_usable() {
                return self.pool.checkout(&self.route);
            }
        }
        Some(reused)
    }

    /// Connects to one of the vetted addresses.
    async fn open(&self) -> Result<Connection, TransportError> {
        let connected = match self.proxy {
            Some(proxy) => proxy.tunnel(self.addresses).await,
            None => connect(self.addresses).await,
        };
        let tcp = connected.map_err(TransportError::connect)?;
        let socket = Socket::new(tcp);
        let progress = socket.progress();
        if !self.route.is_https() {
            let opened = Http1::handshake(socket, progress).await;
            return opened.map(Connection::Http1).map_err(TransportError::other);
        }
        let name = server_name(self.target.host())?;
        let tls = self
            .tls
            .connect(name, socket)
            .await
            .map_err(TransportError::tls)?;
        if tls.get_ref().1.alpn_protocol() == Some(HTTP_2) {
            let opened = Http2::handshake(tls).await.map_err(TransportError::other)?;
            let shared = Arc::new(opened);
            self.pool.share(&self.route, &shared);
            return Ok(Connection::Http2(shared));
        }
        self.pool.note_http1(&self.route);
        let opened = Http1::handshake(tls, progress).await;
        opened.map(Connection::Http1).map_err(TransportError::other)
    }
}

fn server_name(host: &Host) -> Result<ServerName<'static>, TransportError> {
    match host {
        Host::Ip(address) => Ok(ServerName::from(*address)),
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(TransportError::tls),
    }
}

impl Answered {
    /// Reads the body, and keeps the connection for the next exchange if the body is complete.
    pub(crate) async fn read(
        self,
        limits: ExchangeLimits,
        deadline: Instant,
    ) -> Result<Response<Bytes>, TransportError> {
        let (head, body) = self.response.into_parts();
        let read = host_transport_body::read(body, limits, deadline).await;
        if let (Connection::Http2(shared), Err(_)) = (&self.connection, &read) {
            shared.suspect();
        }
        let (kept, is_whole) = read?;
        match self.connection {
            Connection::Http1(connection) if is_whole => self.pool.put_back(self.route, connection),
            // closes the connection
            Connection::Http1(_) => {}
            Connection::Http2(shared) => shared.touch(),
        }
        let mut response = Response::from_parts(head, kept);
        if !is_whole {
            response.extensions_mut().insert(Truncated);
        }
        Ok(response)
    }
}
