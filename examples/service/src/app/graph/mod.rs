//! The graph over the desk, at `/graphql`.
//!
//! `schema` what can be asked for · `loads` what is loaded together · `engine` how it is answered.

mod engine;
mod loads;
mod schema;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use graph_core::Principal;
use graph_core::http::{Answer, EventStream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use http_conventions::pipeline::{EarlyAnswer, Exchange, Limited};

use super::App;
use super::body::{Body, full, whole};
use super::caller::Caller;

pub(super) use self::engine::Graph;

/// How long a stream may be silent before a comment shows that it is alive, to proxies and to the peer.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

impl App {
    /// The graph endpoint: a query or mutation answered at once, or a subscription as a stream.
    pub(super) async fn answer_graph(
        &self,
        mut exchange: Exchange<Limited>,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyAnswer> {
        let (caller, request) = exchange.check(self.maybe_authenticated(request))?;
        if let Some(caller) = &caller {
            exchange = self.limit_caller(exchange, caller).await?;
        }
        let mut context = self.graph.context().with_correlation_id(exchange.id().as_str());
        let end = self.end_of_streams(caller.as_ref().map(Caller::expires_at));
        if let Some(caller) = caller {
            let principal = Principal::new(caller.subject());
            context = context.with_principal(principal.with_scopes(caller.scopes()));
        }
        let answer = match self.graph.respond(request, context).await {
            Answer::Full(response) => full(response),
            Answer::Stream(response) => response.map(|events| {
                let frames = kept_alive(events).take_until(end);
                let frames = frames.map(|chunk| Ok(Frame::data(chunk)));
                StreamBody::new(frames).boxed_unsync()
            }),
        };
        Ok(exchange.finish_as(Ok(answer), whole))
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
