//! A way to a server that a test can cut.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use url::Url;

/// A forwarded port.
pub(crate) struct Way {
    /// URL of the server by this way.
    pub(crate) url: String,
    is_cut: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Way {
    /// Opens a way to the server of `url`, which listens on `port` if the URL names none.
    pub(crate) fn to(url: &str, port: u16) -> Self {
        let mut url = Url::parse(url).unwrap();
        let server = (url.host_str().unwrap().to_owned(), url.port().unwrap_or(port));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let way = Self {
            url: url.into(),
            is_cut: Arc::default(),
            connections: Arc::default(),
        };
        let (is_cut, connections) = (Arc::clone(&way.is_cut), Arc::clone(&way.connections));
        thread::spawn(move || {
            for peer in listener.incoming().map_while(Result::ok) {
                if is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect((server.0.as_str(), server.1)).unwrap();
                for (mut from, mut to) in [(&peer, &server), (&server, &peer)]
                    .map(|(from, to)| (from.try_clone().unwrap(), to.try_clone().unwrap()))
                {
                    thread::spawn(move || io::copy(&mut from, &mut to));
                }
                connections.lock().unwrap().extend([peer, server]);
            }
        });
        way
    }

    /// Closes all connections, and every later one at once.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for connection in self.connections.lock().unwrap().drain(..) {
            connection.shutdown(Shutdown::Both).ok();
        }
    }

    /// Lets later connections pass.
    pub(crate) fn restore(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}
