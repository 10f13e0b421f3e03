//! Single connection mode of graphql-sse: reserve and open a stream that carries all operations of
//! a client.

mod operations;
mod streams;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::StreamExt as _;
use graph_core::http::{EventStream, HttpResponse};
use graph_core::subscription::sse::{EventStreams, StreamLimits};
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Method, Request, Response};
use serde_json::json;

use crate::fixture::{Context, Fixture, fixture};

/// Longer than any step takes, so that a missing event fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(20);

struct Desk {
    shop: Fixture,
    streams: EventStreams,
    clock: ManualClock,
}

impl Desk {
    fn new(limits: StreamLimits) -> Self {
        Self::of(fixture(), limits)
    }

    fn of(shop: Fixture, limits: StreamLimits) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
        Self {
            shop,
            streams: EventStreams::new(limits, SeededEntropy::new(3), clock.clone()),
            clock,
        }
    }

    async fn answer(&self, request: Request<Bytes>, context: Context) -> HttpResponse {
        self.until(request, context, std::future::pending()).await
    }

    async fn until(
        &self,
        request: Request<Bytes>,
        context: Context,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> HttpResponse {
        let engine = &self.shop.engine;
        engine.respond_single(&self.streams, request, context, end).await
    }

    async fn full(&self, request: Request<Bytes>, context: Context) -> Response<Bytes> {
        match self.answer(request, context).await {
            HttpResponse::Full(response) => response,
            HttpResponse::Stream(_) => panic!("a stream"),
        }
    }

    async fn reserve(&self) -> String {
        let reserved = self.full(request(Method::PUT, "", "", ""), self.shop.ada()).await;
        assert_eq!(reserved.status(), 201);
        assert_eq!(reserved.headers()["content-type"], "text/plain; charset=utf-8");
        assert_eq!(reserved.headers()["cache-control"], "private, no-store");
        String::from_utf8(reserved.body().to_vec()).unwrap()
    }

    async fn open(&self, token: &str) -> EventStream {
        match self
            .answer(request(Method::GET, token, "", ""), self.shop.ada())
            .await
        {
            HttpResponse::Stream(response) => {
                assert_eq!(
                    response.headers()["content-type"],
                    "text/event-stream; charset=utf-8"
                );
                assert_eq!(response.headers()["x-accel-buffering"], "no");
                let mut events = response.into_body();
                assert_eq!(events.next().await.unwrap(), ":\n\n");
                events
            }
            HttpResponse::Full(response) => panic!("{}", response.status()),
        }
    }

    async fn operate(&self, token: &str, id: &str, query: &str) -> Response<Bytes> {
        self.full(operation(token, id, query), self.shop.ada()).await
    }
}

fn request(method: Method, token: &str, query: &str, body: &str) -> Request<Bytes> {
    let stream = method == Method::GET;
    let builder = Request::builder()
        .method(method)
        .uri(format!("/graphql/stream{query}"))
        .header("content-type", "application/json")
        .header("accept", if stream { "text/event-stream" } else { "*/*" });
    let builder = match token {
        "" => builder,
        token => builder.header("x-graphql-event-stream-token", token),
    };
    builder.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

fn operation(token: &str, id: &str, query: &str) -> Request<Bytes> {
    let body = json!({ "query": query, "extensions": { "operationId": id } });
    request(Method::POST, token, "", &body.to_string())
}

fn text(event: Option<Bytes>) -> String {
    String::from_utf8(event.unwrap().to_vec()).unwrap()
}
