//! WebSockets, frame by frame. The handler answers with an `Upgrade` of host-websocket.

/// The cases.
#[host_ports_conformance::kit(websockets)]
mod cases {
    use std::io::{ErrorKind, Read, Write};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use host_websocket::{Message, Socket, Upgrade};
    use http::{Request, Response};
    use tokio::sync::{mpsc, oneshot};

    use crate::peer::Peer;
    use crate::running::{Running, within_patience};
    use crate::{Adapter, Body};

    const HANDSHAKE: &str = "GET /ws HTTP/1.1\r\nhost: a\r\nconnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: echo\r\n\r\n";
    const LIMIT: usize = 1000;

    const CONTINUATION: u8 = 0;
    const TEXT: u8 = 1;
    const BINARY: u8 = 2;
    const CLOSE: u8 = 8;
    const PING: u8 = 9;
    const PONG: u8 = 10;

    impl Peer {
        fn switch(running: &Running) -> Self {
            let mut peer = running.connect();
            peer.send(HANDSHAKE);
            let head = peer.head();
            assert_eq!(head.status, 101);
            assert_eq!(
                head.all("sec-websocket-accept"),
                [b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]
            );
            assert_eq!(head.all("sec-websocket-protocol"), [b"echo"]);
            peer
        }

        fn send_frame(&mut self, fin: bool, opcode: u8, payload: &[u8]) {
            let first = if fin { 0x80 | opcode } else { opcode };
            let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
            // masked by zeros
            let head = [first, 0x80 | 126, length[0], length[1], 0, 0, 0, 0];
            match u8::try_from(payload.len()) {
                Ok(short) if short < 126 => self.send([first, 0x80 | short, 0, 0, 0, 0]),
                _ => self.send(head),
            }
            self.send(payload);
        }

        fn frame(&mut self) -> (u8, Vec<u8>) {
            let [first, length] = self.bytes::<2>();
            assert!(first & 0x70 == 0 && length & 0x80 == 0, "{first:x} {length:x}");
            let length = match length {
                126 => u16::from_be_bytes(self.bytes()).into(),
                127 => usize::try_from(u64::from_be_bytes(self.bytes())).unwrap(),
                short => usize::from(short),
            };
            (first & 0xf, self.many(length))
        }

        fn close(&mut self) -> (u16, String) {
            let (opcode, payload) = self.frame();
            assert_eq!(opcode, CLOSE);
            let (code, reason) = payload.split_at(2);
            (
                u16::from_be_bytes(code.try_into().unwrap()),
                String::from_utf8(reason.to_vec()).unwrap(),
            )
        }
    }

    fn serving<F>(
        adapter: &Arc<Adapter>,
        session: impl Fn(Socket) -> F + Clone + Send + Sync + 'static,
    ) -> Running
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Running::start(adapter, move |_: Request<_>| {
            let upgrade = Upgrade::new(LIMIT, session.clone());
            std::future::ready::<Response<Body>>(upgrade.into_response(Some("echo")))
        })
    }

    async fn echo(mut socket: Socket) {
        while let Some(message) = socket.incoming.recv().await {
            let Ok(()) = socket.outgoing.send(message).await else {
                return;
            };
        }
    }

    /// X3, G10: whole messages pass both ways, in fragments or not, and pings are answered in
    /// between.
    pub fn messages_pass_both_ways(adapter: &Arc<Adapter>) {
        let running = serving(adapter, echo);
        let mut peer = Peer::switch(&running);
        for (opcode, payload) in [
            (TEXT, "hello ß".as_bytes()),
            (BINARY, b"\xff\0"),
            (TEXT, b""),
            (TEXT, &[b'x'; LIMIT]),
        ] {
            peer.send_frame(true, opcode, payload);
            assert_eq!(peer.frame(), (opcode, payload.to_vec()));
        }
        peer.send_frame(false, TEXT, b"h");
        peer.send_frame(true, PING, b"there?");
        assert_eq!(peer.frame(), (PONG, b"there?".to_vec()));
        peer.send_frame(false, CONTINUATION, b"ell");
        peer.send_frame(true, CONTINUATION, b"o");
        assert_eq!(peer.frame(), (TEXT, b"hello".to_vec()));
        peer.send_frame(true, CLOSE, &1000u16.to_be_bytes());
        assert_eq!(peer.close().0, 1000);
        assert_eq!(peer.rest(), b"");
    }

    /// X3, G10: the peer gets the handler's messages, then its close frame with code and reason.
    pub fn close_of_the_handler_reaches_the_client(adapter: &Arc<Adapter>) {
        let running = serving(adapter, async |socket: Socket| {
            for message in [
                Message::Text("last".to_owned()),
                Message::Close(4403, "Forbidden".to_owned()),
            ] {
                socket.outgoing.send(message).await.unwrap();
            }
        });
        let mut peer = Peer::switch(&running);
        assert_eq!(peer.frame(), (TEXT, b"last".to_vec()));
        assert_eq!(peer.close(), (4403, "Forbidden".to_owned()));
        peer.send_frame(true, CLOSE, &4403u16.to_be_bytes());
        assert_eq!(peer.rest(), b"");
    }

    /// X3, H19: a message over the limit, fragmented or not, closes with 1009 before it is in
    /// memory. The handler never gets it.
    pub fn message_over_the_limit_is_1009(adapter: &Arc<Adapter>) {
        let (heard, mut hears) = mpsc::channel::<Option<Message>>(8);
        let running = serving(adapter, move |socket: Socket| {
            let heard = heard.clone();
            async move {
                let mut socket = socket;
                heard.send(socket.incoming.recv().await).await.unwrap();
            }
        });
        let mut whole = Peer::switch(&running);
        whole.send_frame(true, TEXT, &[b'x'; LIMIT + 1]);
        assert_eq!(whole.close().0, 1009);
        let mut fragments = Peer::switch(&running);
        fragments.send_frame(false, TEXT, &[b'x'; LIMIT]);
        fragments.send_frame(true, CONTINUATION, b"x");
        assert_eq!(fragments.close().0, 1009);
        // the header announces a length of 1 GiB before any payload
        let mut announced = Peer::switch(&running);
        announced.send([0x81, 0x80 | 127, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0]);
        let mut sent = (0..16).map(|_| announced.0.write_all(&[b'x'; 1 << 16]));
        let _hung_up = sent.all(|sent| sent.is_ok());
        let mut close = [0; 4];
        match announced.0.read_exact(&mut close) {
            Ok(()) => assert_eq!(
                (close[0] & 0xf, &close[2..]),
                (CLOSE, 1009u16.to_be_bytes().as_slice())
            ),
            // a reset, caused by data sent after the refusal, may have discarded the close frame
            Err(error) => assert_ne!(error.kind(), ErrorKind::WouldBlock, "the server waits for more"),
        }
        for _ in 0..3 {
            assert_eq!(within_patience(hears.recv()), Some(None));
        }
    }

    /// X3: a malformed frame ends the connection with 1002.
    pub fn malformed_frame_is_1002(adapter: &Arc<Adapter>) {
        let running = serving(adapter, echo);
        let unmasked: &[u8] = &[0x81, 1, b'x'];
        let unknown: &[u8] = &[0x83, 0x80, 0, 0, 0, 0];
        let long_ping: &[u8] = &[[0x89, 0x80 | 126, 0, 126, 0, 0, 0, 0].as_slice(), &[0; 126]].concat();
        let orphan: &[u8] = &[0x80, 0x80, 0, 0, 0, 0];
        for broken in [unmasked, unknown, long_ping, orphan] {
            let mut peer = Peer::switch(&running);
            peer.send(broken);
            assert_eq!(peer.close().0, 1002, "{broken:x?}");
        }
    }

    /// X3, G10: the session of a client that has left ends, with a close frame or without.
    pub fn disconnect_ends_the_session(adapter: &Arc<Adapter>) {
        let (left, mut leaves) = mpsc::channel::<()>(2);
        let running = serving(adapter, move |socket: Socket| {
            let left = left.clone();
            async move {
                let mut socket = socket;
                assert_eq!(socket.incoming.recv().await, None);
                left.send(()).await.unwrap();
            }
        });
        drop(Peer::switch(&running));
        within_patience(leaves.recv()).unwrap();
        let mut polite = Peer::switch(&running);
        polite.send_frame(true, CLOSE, &1001u16.to_be_bytes());
        within_patience(leaves.recv()).unwrap();
    }

    /// X3, G10: messages for a client that does not read are not buffered. The handler waits.
    pub fn client_that_does_not_read_blocks_the_handler(adapter: &Arc<Adapter>) {
        let (stuck, sticks) = oneshot::channel::<usize>();
        let once = Arc::new(Mutex::new(Some(stuck)));
        let running = serving(adapter, move |socket: Socket| {
            let stuck = once.lock().unwrap().take().unwrap();
            async move {
                let large = "x".repeat(1 << 16);
                let mut sent = 0;
                while let Ok(Ok(())) = tokio::time::timeout(
                    Duration::from_secs(1),
                    socket.outgoing.send(Message::Text(large.clone())),
                )
                .await
                {
                    sent += 1;
                }
                stuck.send(sent).unwrap();
            }
        });
        let _peer = Peer::switch(&running);
        let sent = within_patience(sticks).unwrap();
        assert!(sent < 1000, "{sent} messages of 64 KiB were collected");
    }

    /// X3, G10: the shutdown waits for the close frame of the handler.
    pub fn shutdown_waits_for_the_close_of_a_websocket(adapter: &Arc<Adapter>) {
        let (entered, mut has_entered) = mpsc::channel::<()>(1);
        let (release, released) = oneshot::channel::<()>();
        let once = Arc::new(Mutex::new(Some((entered, released))));
        let mut running = serving(adapter, move |socket: Socket| {
            let (entered, released) = once.lock().unwrap().take().unwrap();
            async move {
                entered.send(()).await.unwrap();
                released.await.unwrap();
                let goodbye = Message::Close(1001, "Going away".to_owned());
                socket.outgoing.send(goodbye).await.unwrap();
            }
        });
        let mut peer = Peer::switch(&running);
        within_patience(has_entered.recv()).unwrap();
        running.begin_shutdown();
        release.send(()).unwrap();
        assert_eq!(peer.close(), (1001, "Going away".to_owned()));
        drop(peer);
        running.join();
    }

    /// X3: a request that is not a complete handshake gets 400.
    pub fn malformed_handshake_is_400(adapter: &Arc<Adapter>) {
        let running = serving(adapter, echo);
        for (from, to) in [
            ("upgrade: WebSocket\r\n", ""),
            ("sec-websocket-version: 13\r\n", "sec-websocket-version: 8\r\n"),
            ("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""),
        ] {
            let mut peer = running.connect();
            peer.send(HANDSHAKE.replace(from, to));
            peer.answer().assert_refused(400, "GET /ws -");
        }
    }
}

pub use cases::*;
