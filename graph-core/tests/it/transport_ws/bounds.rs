//! Timeouts and limits per connection.

use std::time::{Duration, SystemTime};

use graph_core::error::ErrorCode;
use graph_core::response::GraphResponse;
use graph_core::subscription::transport_ws::{Action, ConnectionLimits, Input};

use super::{INIT, Peer, subscribe};

const PING: Input<'static> = Input::Text(r#"{"type":"ping"}"#);
const PONG: Input<'static> = Input::Text(r#"{"type":"pong"}"#);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// G10: 4408 for a client that sends no `connection_init`, and for a host that does not
/// authenticate in time.
#[test]
fn a_connection_that_is_not_acknowledged_in_time_is_4408() {
    for authenticating in [false, true] {
        let mut peer = Peer::opened(ConnectionLimits::default());
        let until = peer.now + seconds(10);
        if authenticating {
            peer.pass(seconds(9));
            assert_eq!(peer.told(Input::Text(INIT)), "authenticate");
        }
        assert_eq!(peer.connection.next_timeout(), Some(until));
        peer.now = until - Duration::from_nanos(1);
        assert_eq!(peer.told(Input::Timeout), "-");
        peer.now = until;
        assert_eq!(peer.told(Input::Timeout), "4408");
        assert_eq!(peer.connection.next_timeout(), None);
    }
}

/// G10: an acknowledged connection has no deadline of its own.
#[test]
fn an_acknowledged_connection_outlives_the_init_timeout() {
    let mut peer = Peer::ready(ConnectionLimits::default());
    peer.pass(seconds(11));
    assert_eq!(peer.told(Input::Timeout), "-");
    peer.start("1");
}

/// G10: when the credentials expire the connection closes with 4403, for any next input and a late
/// timer.
#[test]
fn expired_credentials_start_nothing_more() {
    for late in [0, 3600] {
        for input in [Input::Timeout, Input::Text(&subscribe("2")), PING] {
            let mut peer = Peer::opened(ConnectionLimits::default());
            let expires_at = Some(peer.now + seconds(20));
            let _authenticate = peer.handle(Input::Text(INIT));
            assert_eq!(peer.told(Input::Accepted { expires_at }), "ack");
            assert_eq!(peer.told(Input::Sent), "-");
            assert_eq!(peer.connection.next_timeout(), expires_at);
            peer.pass(seconds(20) - Duration::from_nanos(1));
            peer.start("1");
            peer.pass(Duration::from_nanos(1) + seconds(late));
            assert_eq!(peer.told(input), "4403");
            assert_eq!(peer.connection.operations(), 0);
        }
    }
    let mut peer = Peer::opened(ConnectionLimits::default());
    let expires_at = Some(peer.now);
    let _authenticate = peer.handle(Input::Text(INIT));
    assert_eq!(peer.told(Input::Accepted { expires_at }), "4403");
}

/// G10: an operation above the limit is refused; other operations and the connection continue.
#[test]
fn one_operation_too_many_is_rate_limited() {
    let mut peer = Peer::ready(ConnectionLimits::default().with_operations(2));
    peer.start("1");
    let second = peer.start("2");
    let actions = peer.handle(Input::Text(&subscribe("3")));
    assert_eq!(
        actions,
        [Action::Send(
            r#"{"id":"3","type":"error","payload":[{"message":"at most 2 operations may run at once","extensions":{"code":"RATE_LIMITED"}}]}"#
                .to_owned()
        )]
    );
    assert_eq!(peer.connection.operations(), 2);
    assert_eq!(peer.told(Input::Ended(second)), "complete");
    peer.start("3");
}

/// G10: a slow peer delays its own operations, and is closed after the patience.
#[test]
fn a_slow_peer_is_waited_for_and_then_closed() {
    let mut peer = Peer::ready(ConnectionLimits::default().with_queue(2));
    peer.start("1");
    assert_eq!(peer.told(PING), "pong");
    assert!(peer.connection.has_room());
    peer.pass(seconds(5));
    assert_eq!(peer.told(PING), "pong");
    assert!(!peer.connection.has_room());
    // the first frame has waited for five seconds
    assert_eq!(peer.connection.next_timeout(), Some(peer.now + seconds(15)));
    peer.pass(seconds(14));
    assert_eq!(peer.told(Input::Timeout), "-");
    assert_eq!(peer.told(Input::Sent), "-");
    assert!(peer.connection.has_room());
    peer.pass(seconds(19));
    assert_eq!(peer.told(Input::Timeout), "-");
    peer.pass(seconds(1));
    let actions = peer.handle(Input::Timeout);
    let [Action::Close(close)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(
        (close.code(), close.reason()),
        (1013, "The peer does not accept frames")
    );
    assert_eq!(peer.connection.operations(), 0);
}

/// G10: a host that ignores `has_room` cannot grow the queue.
#[test]
fn a_queue_that_overflows_closes_the_connection() {
    let mut peer = Peer::ready(ConnectionLimits::default().with_queue(3));
    for _ in 0..3 {
        assert_eq!(peer.told(PING), "pong");
    }
    assert_eq!(peer.told(PING), "1013");
}

/// G10: a silent peer is sent a ping and closed if it sends nothing; any message counts as an
/// answer.
#[test]
fn a_silent_peer_is_pinged_and_then_closed() {
    let mut peer = Peer::ready(ConnectionLimits::default());
    for answer in [PONG, PING, Input::Text(&subscribe("1"))] {
        peer.pass(seconds(25));
        assert_eq!(peer.told(Input::Timeout), "ping");
        assert_eq!(peer.told(Input::Sent), "-");
        assert_eq!(peer.connection.next_timeout(), Some(peer.now + seconds(20)));
        peer.pass(seconds(19));
        assert_eq!(peer.told(Input::Timeout), "-");
        let _answered = peer.handle(answer);
        assert_eq!(peer.told(Input::Sent), "-");
        assert_eq!(peer.connection.next_timeout(), Some(peer.now + seconds(25)));
    }
    peer.pass(seconds(25));
    assert_eq!(peer.told(Input::Timeout), "ping");
    assert_eq!(peer.told(Input::Sent), "-");
    peer.pass(seconds(20));
    let actions = peer.handle(Input::Timeout);
    let [Action::Close(close)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(
        (close.code(), close.reason()),
        (1013, "The ping was not answered")
    );
}

/// G10: a peer whose full queue stopped the host from reading is not treated as silent.
#[test]
fn peer_that_could_not_be_read_is_not_silent() {
    let mut peer = Peer::ready(ConnectionLimits::default().with_queue(1));
    peer.pass(seconds(24));
    assert_eq!(peer.told(PING), "pong");
    peer.pass(seconds(19));
    assert_eq!(peer.told(Input::Timeout), "-");
    assert_eq!(peer.told(Input::Sent), "-");
    assert_eq!(peer.connection.next_timeout(), Some(peer.now + seconds(25)));
}

/// G19: durations beyond the range of the clock do not panic.
#[test]
fn endless_limits_never_time_out() {
    let limits = ConnectionLimits::default()
        .with_init_timeout(Duration::MAX)
        .with_silence(Duration::MAX)
        .with_patience(Duration::MAX);
    let mut peer = Peer::opened(limits);
    assert_eq!(peer.connection.next_timeout(), None);
    assert_eq!(peer.told(Input::Text(INIT)), "authenticate");
    assert_eq!(peer.told(Input::Accepted { expires_at: None }), "ack");
    assert_eq!(peer.connection.next_timeout(), None);
    peer.now = SystemTime::UNIX_EPOCH;
    let refused = GraphResponse::request_error(ErrorCode::NotFound, "");
    let operation = peer.start("1");
    assert_eq!(peer.told(Input::Response(operation, refused)), "error stop");
}
