//! Handshakes that are slow, fail, or never come, beside those that do.

use std::time::Instant;

use super::*;

/// Reads until the server hangs up, which it must.
fn rest(mut socket: TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    match socket.read_to_end(&mut rest) {
        Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("still open: {error}"),
        _ => rest,
    }
}

/// X3: whoever connects and says nothing, or stops in the middle, keeps nobody waiting, and is cut off.
#[test]
fn a_slow_handshake_holds_up_no_other() {
    let running = Running::start_with(Duration::from_secs(1), |_| None);
    let silent: Vec<TcpStream> = (0..300).map(|_| running.socket()).collect();
    let halves: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut socket = running.socket();
            // a record of a handshake that says how long it is
            socket.write_all(&[22, 3, 1, 0, 200, 1, 0]).unwrap();
            socket
        })
        .collect();
    let begun = Instant::now();
    for _ in 0..5 {
        assert_eq!(running.told(None).unwrap(), "-");
    }
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    for socket in silent.into_iter().chain(halves) {
        rest(socket);
    }
}

/// X3: what is no TLS, and a client that does not like the server, end their own connection.
#[test]
fn a_failed_handshake_ends_its_own_connection() {
    let running = Running::start(|_| None);
    let mut open = running.connect(running.authority.client(None));
    assert_eq!(open.ask(GET).unwrap(), "-");
    for garbage in [GET, b"\0\0\0\0\0\0\0\0", &[0xff; 70_000]] {
        let mut socket = running.socket();
        // the server may have hung up before it has read all
        let _refused = socket.write_all(garbage);
        let answer = rest(socket);
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    }
    let stranger = Authority::new().client(None);
    assert!(running.connect(stranger).ask(GET).is_err());
    assert_eq!(open.ask(GET).unwrap(), "-");
    assert_eq!(running.told(None).unwrap(), "-");
}

/// X3: the shutdown waits for answers and not for handshakes; where the adapter cannot drop those, no longer than one may take.
#[test]
fn shutdown_answers_what_is_asked_and_drops_handshakes() {
    let time_of_a_handshake = match crate::DROPS_HANDSHAKES {
        true => PATIENCE,
        false => Duration::from_secs(2),
    };
    let mut running = Running::start_with(time_of_a_handshake, |_| None);
    let silent = running.socket();
    let mut busy = running.connect(running.authority.client(None));
    assert_eq!(busy.ask(GET).unwrap(), "-");
    let asking = std::thread::spawn(move || busy.ask(b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n"));
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    running.begin_shutdown();
    assert_eq!(asking.join().unwrap().unwrap(), "-");
    running.join();
    assert!(begun.elapsed() < PATIENCE / 2);
    rest(silent);
}

/// X3: both sides agree on HTTP/1.1, and on nothing else.
#[test]
fn the_protocol_is_http_1_1() {
    let running = Running::start(|_| None);
    for (offered, agreed) in [
        (&[&b"h2"[..], b"http/1.1"][..], Some(&b"http/1.1"[..])),
        (&[b"h2"], None),
    ] {
        let mut config = running.authority.client(None);
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        let mut peer = running.connect(config);
        assert_eq!(peer.ask(GET).is_ok(), agreed.is_some());
        assert_eq!(peer.0.conn.alpn_protocol(), agreed);
    }
}
