//! Messages from one process to all.

use std::time::Duration;

use bytes::Bytes;
use host_store_redis::{Listener, Received};
use tokio::time::timeout;

use crate::server::{Wire, prefix};

const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for the next message; `None` if the connection broke.
async fn message(listener: &mut Listener) -> Option<Bytes> {
    match timeout(PATIENCE, listener.next()).await.unwrap() {
        Received::Message(message) => Some(message),
        _ => None,
    }
}

/// X5: every listener of a channel gets each message, in order and byte for byte; listeners of
/// another channel or prefix do not.
#[tokio::test]
async fn every_listener_of_a_channel_hears_each_message() {
    let prefix = prefix!();
    let (one, other) = (prefix.database().await, prefix.database().await);
    let stranger = prefix!().database().await;
    let mut listeners = [one.listen("a").await.unwrap(), other.listen("a").await.unwrap()];
    let mut elsewhere = one.listen("b").await.unwrap();
    let mut abroad = stranger.listen("a").await.unwrap();
    for message in [b"1".as_slice(), b"", b"\xff\0\r\n", b"4"] {
        one.publish("a", Bytes::copy_from_slice(message)).await.unwrap();
        for listener in &mut listeners {
            assert_eq!(self::message(listener).await.unwrap(), message);
        }
    }
    other.publish("b", Bytes::from_static(b"b")).await.unwrap();
    stranger
        .publish("a", Bytes::from_static(b"abroad"))
        .await
        .unwrap();
    assert_eq!(message(&mut elsewhere).await.unwrap(), "b");
    assert_eq!(message(&mut abroad).await.unwrap(), "abroad");
}

/// X5, X6: a broken connection is replaced and reported once, and later messages arrive.
#[tokio::test]
async fn listener_reports_that_it_reconnected() {
    let prefix = prefix!();
    let wire = Wire::laid().await;
    let (near, far) = (prefix.database().await, prefix.database_at(&wire.url()).await);
    let mut listener = far.listen("a").await.unwrap();
    for round in ["one", "two", "three"] {
        wire.cut();
        let reconnected = timeout(PATIENCE, listener.next()).await.unwrap();
        assert_eq!(reconnected, Received::Reconnected);
        near.publish("a", Bytes::from_static(round.as_bytes()))
            .await
            .unwrap();
        assert_eq!(message(&mut listener).await.unwrap(), round);
    }
}

/// X5: listening fails if the server cannot be reached.
#[tokio::test]
async fn a_listener_begins_with_a_connection() {
    let prefix = prefix!();
    let wire = Wire::laid().await;
    let far = prefix.database_at(&wire.url()).await;
    wire.end();
    assert!(far.listen("a").await.is_err());
    assert!(far.publish("a", Bytes::new()).await.is_err());
}
