//! GraphQL over WebSocket: `graphql-transport-ws`, with the access token as `Authorization` in the
//! payload of `connection_init`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::{StreamExt, future, stream};
use graph_core::error::ErrorCode;
use graph_core::response::GraphResponse;
use graph_core::subscription::transport_ws::{ConnectionInit, ConnectionLimits, Handshake};
use host_websocket::graph::{Admission, Host, serve};
use host_websocket::{Socket, Upgrade};
use http::header::AUTHORIZATION;
use http::{Request, Response};
use http_conventions::pipeline::{Exchange, Limited};

use super::loss::Loss;
use crate::app::App;
use crate::app::body::{Body, full};
use crate::app::caller::Caller;

impl App {
    /// Opens a WebSocket. Accepts clients without `Origin`, pages of this service and pages of the
    /// allowed origins.
    pub(super) fn open_socket(
        self: &Arc<Self>,
        exchange: Exchange<Limited>,
        request: &Request<Bytes>,
    ) -> Response<Body> {
        let handshake = match Handshake::read(request.headers(), &self.socket_origins) {
            Ok(handshake) => handshake,
            Err(foreign) => return full(foreign.into_response()),
        };
        let limits = ConnectionLimits::default();
        let loss = Loss::default();
        let end = self.end_of_streams(None, loss.clone());
        let host = Connected {
            app: Arc::clone(self),
            exchange,
            loss,
            peer: request.extensions().get().copied(),
        };
        let upgrade = Upgrade::new(limits.message(), async move |socket: Socket| {
            let connection = handshake.open(limits, host.now());
            serve(socket, connection, &host, Box::pin(end)).await;
        });
        upgrade.into_response(handshake.subprotocol())
    }
}

/// The service as seen by one connection.
struct Connected {
    app: Arc<App>,
    /// Request of the handshake.
    exchange: Exchange<Limited>,
    loss: Loss,
    /// Address of the client.
    peer: Option<SocketAddr>,
}

impl Host for Connected {
    fn now(&self) -> SystemTime {
        self.app.clock.now()
    }

    async fn sleep_until(&self, time: SystemTime) {
        self.app.clock.sleep_until(time).await;
    }

    /// Authenticates a connection. Without a token it is anonymous, as in a request; an invalid
    /// token is refused.
    async fn authenticate(&self, init: ConnectionInit) -> Admission {
        let credentials = match init.text("authorization") {
            Ok(Some(credentials)) => credentials,
            Ok(None) => return self.admit(None),
            Err(_ambiguous) => return Admission::Refused,
        };
        let request = Request::get("/graphql").header(AUTHORIZATION, credentials);
        let Ok(request) = request.body(Bytes::new()) else {
            return Admission::Refused;
        };
        match self.app.authenticated(&mut self.exchange.clone(), request).await {
            Ok((caller, _)) => self.admit(Some(caller)),
            Err(_) => Admission::Refused,
        }
    }
}

impl Connected {
    fn admit(&self, caller: Option<Caller>) -> Admission {
        let (app, exchange, peer) = (Arc::clone(&self.app), self.exchange.clone(), self.peer);
        let loss = self.loss.clone();
        Admission::Accepted {
            expires_at: caller.as_ref().map(Caller::expires_at),
            operations: Box::new(move |operation| {
                let (app, exchange, caller) = (Arc::clone(&app), exchange.clone(), caller.clone());
                let context = app.graph_context(caller.as_ref(), &exchange, &loss);
                // each operation counts against the rate limit, as a request does
                let started = async move {
                    let counted = match &caller {
                        Some(caller) => app.limit_caller(exchange, caller).await,
                        None => app.limit_peer(exchange, peer).await,
                    };
                    match counted {
                        Ok(_counted) => app.graph.subscribe(operation, context).left_stream(),
                        Err(_refused) => {
                            let refused =
                                GraphResponse::request_error(ErrorCode::RateLimited, "too many requests");
                            stream::once(future::ready(refused)).right_stream()
                        }
                    }
                };
                stream::once(started).flatten().boxed()
            }),
        }
    }
}
