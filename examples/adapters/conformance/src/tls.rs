//! TLS handshakes: slow ones, failed ones, and the shutdown.

/// The cases.
#[host_ports_conformance::kit(tls)]
mod cases {
    use std::io::{self, Read, Write};
    use std::net::TcpStream;
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use tokio::sync::{mpsc, oneshot};

    use crate::Adapter;
    use crate::authority::Authority;
    use crate::running::{PATIENCE, within_patience};
    use crate::secure::{GET, Running, tell, text};

    /// Time after which the server ends a silent connection.
    const READ_TIMEOUT: Duration = Duration::from_secs(4);

    /// Reads until the server closes the connection. Panics if it does not.
    fn rest(mut socket: TcpStream) -> Vec<u8> {
        let mut rest = Vec::new();
        match socket.read_to_end(&mut rest) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("still open: {error}"),
            _ => rest,
        }
    }

    /// X3: a client that sends nothing or half a handshake is disconnected and delays no other
    /// client.
    pub fn slow_handshake_delays_no_other(adapter: &Arc<Adapter>) {
        let running = Running::start_with(adapter, READ_TIMEOUT, |_| None, tell);
        let silent: Vec<TcpStream> = (0..300).map(|_| running.socket()).collect();
        let halves: Vec<TcpStream> = (0..20)
            .map(|_| {
                let mut socket = running.socket();
                // the header of a handshake record of 200 bytes
                socket.write_all(&[22, 3, 1, 0, 200, 1, 0]).unwrap();
                socket
            })
            .collect();
        let begun = Instant::now();
        for _ in 0..5 {
            assert_eq!(running.told(None).unwrap(), "-");
        }
        // five requests that waited for a silent client each would take five times as long
        assert!(begun.elapsed() < READ_TIMEOUT, "{:?}", begun.elapsed());
        for socket in silent.into_iter().chain(halves) {
            rest(socket);
        }
    }

    /// X3: bytes that are not TLS, or a client that distrusts the server, end only their own
    /// connection.
    pub fn failed_handshake_ends_its_own_connection(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, |_| None);
        let mut open = running.connect(running.authority.client(None));
        assert_eq!(open.ask(GET).unwrap(), "-");
        for garbage in [GET, b"\0\0\0\0\0\0\0\0", &[0xff; 70_000]] {
            let mut socket = running.socket();
            // the server may have closed the connection before it has read everything
            let _refused = socket.write_all(garbage);
            let answer = rest(socket);
            assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
        }
        let stranger = Authority::new().client(None);
        assert!(running.connect(stranger).ask(GET).is_err());
        assert_eq!(open.ask(GET).unwrap(), "-");
        assert_eq!(running.told(None).unwrap(), "-");
    }

    /// X3: the shutdown finishes open requests and drops pending handshakes.
    pub fn shutdown_does_not_wait_for_silent_handshakes(adapter: &Arc<Adapter>) {
        let (entered, mut has_entered) = mpsc::channel::<()>(1);
        let (release, released) = oneshot::channel::<()>();
        let once = Mutex::new(Some((entered, released)));
        let mut running = Running::start_with(
            adapter,
            PATIENCE,
            |_| None,
            move |_| {
                let (entered, released) = once.lock().unwrap().take().unwrap();
                async move {
                    entered.send(()).await.unwrap();
                    released.await.unwrap();
                    text("done")
                }
            },
        );
        let silent = running.socket();
        let mut busy = running.connect(running.authority.client(None));
        let asking = std::thread::spawn(move || busy.ask(GET));
        within_patience(has_entered.recv()).unwrap();
        let begun = Instant::now();
        running.begin_shutdown();
        running.wait_until_closed();
        release.send(()).unwrap();
        assert_eq!(asking.join().unwrap().unwrap(), "done");
        running.join();
        assert!(begun.elapsed() < PATIENCE / 2);
        rest(silent);
    }

    /// X3: ALPN selects `http/1.1`. A client that offers `h2` alone is refused.
    pub fn alpn_protocol_is_http_1_1(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, |_| None);
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
}

pub use cases::*;
