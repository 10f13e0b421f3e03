//! The GraphQL API: `/graphql` over HTTP and WebSocket, and `/graphql/stream` for graphql-sse in
//! single-connection mode.
//!
//! `schema`: the types and resolvers · `loads`: batch loaders · `engine`: limits and execution ·
//! `socket`: WebSocket · `explorer`: operations of the console's explorer · `loss`: missed updates.
//!
//! A subscription whose updates may be incomplete is not completed: its connection ends, as at the
//! expiry of the token and at the stop of the service. The client connects again, subscribes and
//! then reads what may have changed meanwhile.

mod engine;
mod explorer;
mod loads;
mod loss;
mod schema;
mod socket;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::StreamExt;
use graph_core::http::HttpResponse;
use graph_core::ports::timer_fn;
use host_websocket::Upgrade;
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use http_conventions::pipeline::{EarlyResponse, Exchange, Limited};

use super::body::{Body, full, whole};
use super::browser::see_other;
use super::caller::Caller;
use super::page::accepts_html;
use super::{App, OpenError, traced};

pub(super) use self::engine::Graph;
use self::loss::Loss;
use self::schema::Context;

/// Silence after which a stream sends a comment or a heartbeat.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

impl App {
    /// The GraphQL schema in SDL.
    ///
    /// # Errors
    ///
    /// Returns [`OpenError`] if the schema is invalid.
    pub fn graph_schema() -> Result<String, OpenError> {
        Graph::sdl()
    }

    /// Responds at `/graphql`: to a query or mutation at once, to a subscription with a stream, or
    /// by opening a WebSocket. A browser that opens the address is sent to the explorer.
    pub(super) async fn answer_graph(
        self: &Arc<Self>,
        mut exchange: Exchange<Limited>,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyResponse> {
        if request.method() == Method::GET && Upgrade::is_requested(request.headers()) {
            let switched = self.open_socket(exchange.clone(), &request);
            return Ok(exchange.finish_as(Ok(switched), whole));
        }
        let is_bare = request.method().is_safe() && request.uri().query().is_none();
        if is_bare && accepts_html(&request) {
            let explorer = full(see_other("/console/explorer", None));
            return Ok(exchange.finish_as(Ok(explorer), whole));
        }
        let (caller, request) = self.maybe_authenticated(&mut exchange, request).await?;
        let exchange = match &caller {
            Some(caller) => self.limit_caller(exchange, caller).await?,
            None => exchange,
        };
        let loss = Loss::default();
        let context = self.graph_context(caller.as_ref(), &exchange, &loss);
        let end = self.end_of_streams(caller.as_ref().map(Caller::expires_at), loss);
        let answer = streamed(self.graph.respond(request, context).await, end);
        Ok(exchange.finish_as(Ok(answer), whole))
    }

    /// Responds at `/graphql/stream`. A stream ends with the first of the tokens that opened or
    /// used it, and with the first loss of updates. Anonymous clients are refused: they would share
    /// one identity, and one of them could take over the others' streams.
    pub(super) async fn answer_graph_stream(
        &self,
        mut exchange: Exchange<Limited>,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyResponse> {
        let (caller, request) = self.authenticated(&mut exchange, request).await?;
        let exchange = self.limit_caller(exchange, &caller).await?;
        let loss = Loss::default();
        let context = self.graph_context(Some(&caller), &exchange, &loss);
        let end = self.end_of_streams(Some(caller.expires_at()), loss);
        let answer = self.graph.respond_single(request, context, end).await;
        let answer = streamed(answer, std::future::pending());
        Ok(exchange.finish_as(Ok(answer), whole))
    }

    /// Context of the resolvers of one operation.
    fn graph_context<S>(&self, caller: Option<&Caller>, exchange: &Exchange<S>, loss: &Loss) -> Context {
        let trace = exchange.trace().and_then(traced::parent);
        let context = self.graph.context(loss, None, trace);
        let context = context.with_correlation_id(exchange.id().as_str());
        match caller {
            Some(caller) => context.with_principal(caller.principal()),
            None => context,
        }
    }
}

/// Converts a GraphQL response to the type of the adapters; a stream is cut at `end`.
fn streamed(answer: HttpResponse, end: impl Future<Output = ()> + Send + 'static) -> Response<Body> {
    match answer {
        HttpResponse::Full(response) => full(response),
        HttpResponse::Stream(response) => response.map(|events| {
            let events = events.with_keep_alive(timer_fn(tokio::time::sleep), KEEP_ALIVE);
            let frames = events.take_until(end).map(|chunk| Ok(Frame::data(chunk)));
            StreamBody::new(frames).boxed_unsync()
        }),
    }
}

impl App {
    /// Completes when streams must end: at the expiry of the token, when the service stops, or when
    /// updates may be lost. The client then reconnects with a fresh token.
    fn end_of_streams(
        &self,
        expires_at: Option<SystemTime>,
        loss: Loss,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (clock, mut closing) = (self.clock.clone(), self.closing.subscribe());
        async move {
            let expired = async {
                match expires_at {
                    Some(expires_at) => clock.sleep_until(expires_at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = expired => {}
                () = loss.reported() => {}
                _ = closing.wait_for(|closing| *closing) => {}
            }
        }
    }
}
