//! A server drops the future of a client that disconnects: H24.

use std::{sync::Arc, time::SystemTime};

use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, Response};
use http_conventions::{
    Conventions, Idempotency, ProblemBase,
    idempotency::{KeyScope, MemoryIdempotencyStore},
    pipeline::EarlyResponse,
};
use tokio::sync::oneshot;

use crate::pipeline_fixture::{BASE, request};

fn conventions() -> Conventions {
    let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH));
    let store = MemoryIdempotencyStore::default();
    let entropy = SeededEntropy::new(1);
    let idempotency = Idempotency::new(
        store,
        Arc::clone(&clock),
        &entropy,
        ProblemBase::new(BASE).unwrap(),
    );
    Conventions::builder(BASE, clock, entropy)
        .with_idempotency(idempotency)
        .build()
        .unwrap()
}

async fn run(
    conventions: Conventions,
    request: Request<Bytes>,
    handler: impl Future<Output = Response<Bytes>>,
) -> Response<Bytes> {
    let response = async {
        let exchange = conventions.begin(&request).admit(&request)?.skip_rate_limit();
        let scope = KeyScope::new("user-7", "/charges");
        Ok(exchange.run(&request, scope, handler).await)
    };
    response.await.unwrap_or_else(EarlyResponse::into_response)
}

/// Response to a retry of a request whose client left while the handler ran.
async fn retried(is_spawned: bool) -> Response<Bytes> {
    let conventions = conventions();
    let keyed = || request("POST", "/charges", &[("idempotency-key", "\"key\"")]);
    let (entered, has_entered) = oneshot::channel();
    let (release, released) = oneshot::channel::<()>();
    let handler = async {
        entered.send(()).unwrap();
        released.await.unwrap();
        Response::new(Bytes::from_static(b"{\"id\":\"ch_1\"}"))
    };
    let first = run(conventions.clone(), keyed(), handler);
    let connection = match is_spawned {
        true => tokio::spawn(async { tokio::spawn(first).await.unwrap() }),
        false => tokio::spawn(first),
    };
    has_entered.await.unwrap();
    connection.abort();
    assert!(connection.await.unwrap_err().is_cancelled());
    let _gone = release.send(());
    // yields until the runtime is idle
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let second = async { Response::new(Bytes::from_static(b"the handler ran twice")) };
    run(conventions, keyed(), second).await
}

/// H24: a host that spawns the run keeps the response for a retry.
#[tokio::test]
async fn spawned_run_outlives_its_client() {
    let replay = retried(true).await;
    assert_eq!(replay.body(), "{\"id\":\"ch_1\"}");
    assert_eq!(replay.headers()["idempotency-replayed"], "true");
}

/// H24: without a task of its own the run stops half-way, and its key is held.
#[tokio::test]
async fn run_without_a_task_stops_with_its_client() {
    let retry = retried(false).await;
    assert_eq!(retry.status(), 409);
    assert!(retry.headers().contains_key("retry-after"));
}
