//! Clients that disconnect, read slowly or not at all, or take more than their share. Each is a
//! plain socket.

/// The cases.
#[host_ports_conformance::kit(clients)]
mod cases {
    use std::io::Read;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use futures_util::future;
    use host_server::Limits;
    use http_conventions::routing::AllowedHosts;
    use tokio::sync::{mpsc, oneshot};

    use crate::Adapter;
    use crate::handlers::{MEBIBYTE, echo, whole};
    use crate::running::{PATIENCE, Running, patient, within_patience};

    /// H24: a client that disconnects does not stop a handler of an unsafe method. The shutdown
    /// waits for its end.
    pub fn disconnect_does_not_stop_unsafe_work(adapter: &Arc<Adapter>) {
        let (entered, mut has_entered) = mpsc::channel::<()>(1);
        let (release, released) = oneshot::channel::<()>();
        let once = Mutex::new(Some((entered, released)));
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let mut running = Running::start_with(adapter, impatient(), move |_| {
            let (entered, released) = once.lock().unwrap().take().unwrap();
            let done = Arc::clone(&done);
            async move {
                entered.send(()).await.unwrap();
                released.await.unwrap();
                done.store(true, Ordering::SeqCst);
                drop(entered);
                whole("")
            }
        });
        let mut peer = running.connect();
        peer.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi");
        within_patience(has_entered.recv()).unwrap();
        peer.close_writing();
        // the server gives the connection up
        assert_eq!(peer.rest(), b"");
        running.begin_shutdown();
        running.wait_until_closed();
        release.send(()).unwrap();
        running.join();
        assert!(is_done.load(Ordering::SeqCst));
    }

    /// X10: a client that has closed its sending half gets its response.
    pub fn half_closed_client_gets_its_response(adapter: &Arc<Adapter>) {
        let (entered, mut has_entered) = mpsc::channel::<()>(1);
        let (release, released) = oneshot::channel::<()>();
        let once = Mutex::new(Some((entered, released)));
        let running = Running::start(adapter, move |_| {
            let (entered, released) = once.lock().unwrap().take().unwrap();
            async move {
                entered.send(()).await.unwrap();
                released.await.unwrap();
                whole("late")
            }
        });
        let mut peer = running.connect();
        peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        peer.close_writing();
        within_patience(has_entered.recv()).unwrap();
        release.send(()).unwrap();
        assert_eq!(peer.answer().text(), "late");
        assert_eq!(peer.rest(), b"");
    }

    /// X10: a client that reads nothing is disconnected, and its handlers run one at a time.
    pub fn unread_client_is_disconnected(adapter: &Arc<Adapter>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let limits = Limits {
            write_timeout: Duration::from_millis(500),
            ..patient()
        };
        let running = Running::start_with(adapter, limits, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            future::ready(whole(vec![b'x'; MEBIBYTE]))
        });
        let mut peer = running.connect();
        // 20 MB do not fit into the buffers of the sockets
        peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(20));
        peer.wait_until_reset();
        assert!(calls.load(Ordering::SeqCst) < 20);
    }

    /// X10: small responses hold a client that reads nothing no longer than large ones. The kernel
    /// takes many of them, but not one for each time limit.
    pub fn unread_small_responses_end_in_time(adapter: &Arc<Adapter>) {
        let limits = Limits {
            write_timeout: Duration::from_secs(1),
            ..patient()
        };
        let running = Running::start_with(adapter, limits, echo);
        let mut peer = running.connect_with_buffer(4096);
        let request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1000);
        let begun = Instant::now();
        while peer.try_send(&request) {}
        assert!(begun.elapsed() < PATIENCE, "still open");
    }

    /// X10: a client that reads slowly is no client that reads nothing.
    pub fn slow_reader_gets_its_response(adapter: &Arc<Adapter>) {
        let limits = Limits {
            write_timeout: Duration::from_millis(300),
            ..patient()
        };
        let running = Running::start_with(adapter, limits, |_| {
            future::ready(whole(vec![b'x'; MEBIBYTE / 4]))
        });
        let mut peer = running.connect_with_buffer(4096);
        peer.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        peer.head();
        // in each write timeout the client reads several times
        for _ in 0..128 {
            assert!(peer.0.read_exact(&mut [0; 2048]).is_ok(), "cut off");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// X10: one address cannot take all connections.
    pub fn connections_of_one_address_are_limited(adapter: &Arc<Adapter>) {
        let limits = Limits {
            connections_by_address: 2,
            ..patient()
        };
        let running = Running::start_with(adapter, limits, echo);
        let get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        let mut held: Vec<_> = (0..2).map(|_| running.connect()).collect();
        for peer in &mut held {
            peer.send(get);
            assert_eq!(peer.answer().status, 200);
        }
        assert_eq!(running.connect().rest(), b"");
        held.pop();
        let freed = (0..100).any(|_| {
            let mut peer = running.connect();
            peer.try_send(get) && peer.is_answered()
        });
        assert!(freed);
    }

    /// H26, X10: the server answers for its own hosts alone.
    pub fn foreign_host_is_421(adapter: &Arc<Adapter>) {
        let limits = Limits {
            hosts: AllowedHosts::parse(["desk.example"]).unwrap(),
            ..patient()
        };
        let running = Running::start_with(adapter, limits, echo);
        let ask = |host: &str, target: &str| {
            let mut peer = running.connect();
            peer.send(format!("GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n"));
            peer.answer()
        };
        assert_eq!(ask("DESK.example.", "/").status, 200);
        ask("rebound.example", "/").assert_refused(421, "GET / -");
        let foreign = "http://rebound.example/";
        ask("desk.example", foreign).assert_refused(421, &format!("GET {foreign} -"));
    }

    /// Limits under which a client that has closed its sending half is given up at once.
    fn impatient() -> Limits {
        Limits {
            half_closed_timeout: Duration::from_millis(100),
            ..patient()
        }
    }
}

pub use cases::*;
