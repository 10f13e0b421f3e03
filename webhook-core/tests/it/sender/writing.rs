//! Dispatcher during a slow write of the store.

use std::{pin::pin, sync::atomic::Ordering};

use http::StatusCode;

use super::{
    failing::Failing,
    fixture::{Fixture, HangingTransport, answer},
    host::{Host, proceed},
};

/// W17: a slow write of one outcome does not stop the exchanges; outcomes that arrive during it are
/// written together; a stop takes effect.
#[tokio::test]
async fn exchanges_continue_during_store_write() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1", "ep_2", "ep_3", "ep_4"])
        .await;
    let slow = Failing::over(&fixture.outbox);
    let dispatcher = fixture.dispatcher_over(slow.clone());
    let host = Host::default();
    let mut run = pin!(host.run(&dispatcher));
    fixture.send("evt_1").await;
    slow.slow.store(true, Ordering::Relaxed);
    proceed(&mut run).await;
    fixture.transport.answer(0, answer(StatusCode::OK));
    proceed(&mut run).await;
    for index in 1..4 {
        fixture.transport.answer(index, answer(StatusCode::OK));
    }
    proceed(&mut run).await;
    assert!((1..4).all(|index| fixture.transport.has_heard(index)));
    assert!(host.handled().is_empty());

    host.stop();
    slow.slow.store(false, Ordering::Relaxed);
    slow.go_on.notify_one();
    run.await;
    assert_eq!(*slow.batches.lock().unwrap(), [1, 3]);
    assert_eq!(host.handled().len(), 4);
}
