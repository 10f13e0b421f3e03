//! Ports of the host, and their replacements in tests.

use std::{
    error::Error,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_ports::testing::{ManualClock, ScriptedTransport, SeededEntropy};
use http::{Request, Response, StatusCode};
use webhook_core::ports::{
    Clock, Entropy, ExchangeLimits, OsEntropy, StoreError, StoreErrorKind, Transport, TransportError,
    TransportErrorKind, entropy_fn, transport_fn,
};

#[tokio::test]
async fn functions_make_ports() {
    let entropy: &dyn Entropy = &entropy_fn(|bytes| bytes.fill(7));
    let transport: &dyn Transport =
        &transport_fn(async |request: Request<Bytes>| Ok(Response::new(request.into_body())));
    let mut bytes = [0; 3];
    entropy.fill(&mut bytes);
    assert_eq!(bytes, [7; 3]);
    let response = transport.send(Request::new(Bytes::from("{}"))).await.unwrap();
    assert_eq!(response.body(), "{}");
}

#[test]
fn a_manual_clock_moves_for_all_its_clones() {
    let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
    let other = clock.clone();
    clock.advance(Duration::from_secs(1));
    assert_eq!(other.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(1));
    other.set(SystemTime::UNIX_EPOCH);
    assert_eq!(clock.now(), SystemTime::UNIX_EPOCH);
}

#[test]
fn seeded_entropy_repeats_itself_and_the_systems_does_not() {
    let bytes = |entropy: &dyn Entropy| {
        let mut bytes = [0; 29];
        entropy.fill(&mut bytes);
        bytes
    };
    assert_eq!(bytes(&SeededEntropy::new(1)), bytes(&SeededEntropy::new(1)));
    assert_ne!(bytes(&SeededEntropy::new(1)), bytes(&SeededEntropy::new(2)));
    let running = SeededEntropy::new(1);
    assert_ne!(bytes(&running), bytes(&running));
    assert_ne!(bytes(&OsEntropy), bytes(&OsEntropy));
}

#[tokio::test]
async fn a_scripted_transport_answers_in_order_and_keeps_the_requests() {
    let mut accepted = Response::new(Bytes::new());
    *accepted.status_mut() = StatusCode::ACCEPTED;
    let transport = ScriptedTransport::new([Ok(accepted)]);
    transport.push(Err(TransportError::timeout()));
    let send = async |body: &'static str| transport.send(Request::new(Bytes::from(body))).await;
    assert_eq!(send("1").await.unwrap().status(), StatusCode::ACCEPTED);
    assert_eq!(send("2").await.unwrap_err().kind(), TransportErrorKind::Timeout);
    assert_eq!(send("3").await.unwrap_err().kind(), TransportErrorKind::Other);
    assert_eq!(
        transport
            .requests()
            .iter()
            .map(|request| request.body().clone())
            .collect::<Vec<_>>(),
        ["1", "2", "3"]
    );
}

#[test]
fn errors_say_their_kind_and_keep_their_cause_apart() {
    let cause = |error: &dyn Error| error.source().map(ToString::to_string);
    for (error, kind) in [
        (StoreError::unavailable("locked"), StoreErrorKind::Unavailable),
        (StoreError::corrupt("locked"), StoreErrorKind::Corrupt),
    ] {
        assert_eq!((error.kind(), cause(&error)), (kind, Some("locked".to_owned())));
        assert!(!error.to_string().contains("locked"));
    }
    for (error, kind, expected) in [
        (TransportError::timeout(), TransportErrorKind::Timeout, None),
        (TransportError::too_large(), TransportErrorKind::TooLarge, None),
        (
            TransportError::connect("why"),
            TransportErrorKind::Connect,
            Some("why"),
        ),
        (
            TransportError::refused("why"),
            TransportErrorKind::RefusedAddress,
            Some("why"),
        ),
        (TransportError::tls("why"), TransportErrorKind::Tls, Some("why")),
        (
            TransportError::other("why"),
            TransportErrorKind::Other,
            Some("why"),
        ),
    ] {
        assert_eq!((error.kind(), cause(&error).as_deref()), (kind, expected));
        assert!(!error.to_string().contains("why"));
    }
}

/// W12: an exchange without other limits is bounded to ten seconds.
#[test]
fn the_default_limits_are_ten_seconds_and_64_kib() {
    let limits = ExchangeLimits::default();
    assert_eq!(
        (limits.timeout, limits.max_response_body),
        (Duration::from_secs(10), 65_536)
    );
}
