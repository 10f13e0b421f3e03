//! The graph over the desk: at `/graphql`, where a WebSocket may be opened, too, and at `/graphql/stream`, where one event stream
//! carries many operations.
//!
//! `schema` what can be asked for · `loads` what is loaded together · `engine` how it is answered · `socket` over WebSocket.

mod engine;
mod loads;
mod schema;
mod socket;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use graph_core::http::{EventStream, HttpResponse};
use host_websocket::Upgrade;
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use http_conventions::pipeline::{EarlyAnswer, Exchange, Limited};
use http_conventions::routing::RequestId;

use super::body::{Body, full, whole};
use super::caller::Caller;
use super::{App, OpenError};

pub(super) use self::engine::Graph;
use self::schema::Context;

/// How long a stream may be silent before a comment shows that it is alive, to proxies and to the peer.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

impl App {
    /// What can be asked of the graph, in the language of type systems.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when there is no such graph.
    pub fn graph_schema() -> Result<String, OpenError> {
        Graph::sdl()
    }

    /// The graph endpoint: a query or mutation answered at once, a subscription as a stream, or a WebSocket for all of them.
    pub(super) async fn answer_graph(
        self: &Arc<Self>,
        mut exchange: Exchange<Limited>,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyAnswer> {
        if request.method() == Method::GET && Upgrade::is_asked_for(request.headers()) {
            let switched = self.open_socket(exchange.clone(), &request);
            return Ok(exchange.finish_as(Ok(switched), whole));
        }
        let (caller, request) = self.maybe_authenticated(&mut exchange, request).await?;
        let exchange = match &caller {
            Some(caller) => self.limit_caller(exchange, caller).await?,
            None => exchange,
        };
        let context = self.graph_context(caller.as_ref(), exchange.id());
        let end = self.end_of_streams(caller.as_ref().map(Caller::expires_at));
        let answer = streamed(self.graph.respond(request, context).await, end);
        Ok(exchange.finish_as(Ok(answer), whole))
    }

    /// The endpoint of event streams that carry many operations. Each ends with any of the tokens that it was opened or operated with.
    /// Whoever is anonymous has none: one of them could take the streams of all.
    pub(super) async fn answer_graph_stream(
        &self,
        mut exchange: Exchange<Limited>,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyAnswer> {
        let (caller, request) = self.authenticated(&mut exchange, request).await?;
        let exchange = self.limit_caller(exchange, &caller).await?;
        let context = self.graph_context(Some(&caller), exchange.id());
        let end = self.end_of_streams(Some(caller.expires_at()));
        let answer = self.graph.respond_single(request, context, end).await;
        let answer = streamed(answer, std::future::pending());
        Ok(exchange.finish_as(Ok(answer), whole))
    }

    /// What the resolvers of one operation share.
    fn graph_context(&self, caller: Option<&Caller>, id: &RequestId) -> Context {
        let context = self.graph.context().with_correlation_id(id.as_str());
        match caller {
            Some(caller) => context.with_principal(caller.principal()),
            None => context,
        }
    }
}

/// An answer of the graph as the adapters take it, a stream until `end`.
fn streamed(answer: HttpResponse, end: impl Future<Output = ()> + Send + 'static) -> Response<Body> {
    match answer {
        HttpResponse::Full(response) => full(response),
        HttpResponse::Stream(response) => response.map(|events| {
            let frames = kept_alive(events).take_until(end);
            let frames = frames.map(|chunk| Ok(Frame::data(chunk)));
            StreamBody::new(frames).boxed_unsync()
        }),
    }
}

impl App {
    /// Completes when a stream must end: with the token it was opened with, or with the service. A client that wants more comes
    /// back with a fresh token.
    fn end_of_streams(&self, expires_at: Option<SystemTime>) -> impl Future<Output = ()> + Send + use<> {
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
                _ = closing.wait_for(|closing| *closing) => {}
            }
        }
    }
}

/// The events, with a comment in each long silence.
fn kept_alive(events: EventStream) -> impl Stream<Item = Bytes> + Send {
    stream::unfold(events, |mut events| async move {
        match tokio::time::timeout(KEEP_ALIVE, events.next()).await {
            Ok(Some(event)) => Some((event, events)),
            Ok(None) => None,
            Err(_) => Some((Bytes::from_static(graph_core::http::KEEP_ALIVE), events)),
        }
    })
}
