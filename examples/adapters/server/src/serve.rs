//! Accepts connections until the shutdown, then drains them.

use std::convert::Infallible;
use std::{io, net::SocketAddr, pin::pin, sync::Arc};

use http::Extensions;
use tokio::{sync::mpsc, sync::watch, task::JoinSet, time::timeout};

use crate::{Carrier, Limits, PeerWatch, Socket, connections::Connections};

/// An accepted connection.
#[derive(Debug)]
pub struct Accepted {
    socket: Socket,
    peer: SocketAddr,
    limits: Arc<Limits>,
    closing: Closing,
    work: Work,
}

/// A connection that is ready for HTTP.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened<S> {
    /// Byte stream that carries HTTP.
    pub stream: S,
    /// Observer of the client.
    pub peer_watch: PeerWatch,
    /// Extensions to add to each request of the connection. They contain the client's
    /// [`SocketAddr`].
    pub extensions: Extensions,
    /// Limits of the server.
    pub limits: Arc<Limits>,
    /// Signal of the shutdown.
    pub closing: Closing,
    /// Delays the end of the shutdown while a clone exists.
    pub work: Work,
}

/// Signal that the shutdown has begun.
#[derive(Clone, Debug)]
pub struct Closing(watch::Receiver<bool>);

/// Token of running work. The shutdown waits until all clones are dropped, even if the connection
/// of the work has ended.
#[derive(Clone, Debug)]
pub struct Work {
    _open: mpsc::Sender<Infallible>,
}

impl Closing {
    /// Waits until the shutdown begins.
    pub async fn wait(&mut self) {
        // an error means that the server has ended
        self.0.wait_for(|is_closing| *is_closing).await.ok();
    }
}

impl Accepted {
    /// Opens the stream of the connection, which includes the TLS handshake, within the read
    /// timeout. `None` if the handshake failed or the shutdown has begun.
    pub async fn open<C: Carrier>(self, carrier: C) -> Option<Opened<C::Stream>> {
        let Self {
            socket,
            peer,
            limits,
            mut closing,
            work,
        } = self;
        let peer_watch = socket.watch();
        let stream = tokio::select! {
            opened = timeout(limits.read_timeout, carrier.open(socket)) => opened.ok()?.ok(),
            () = closing.wait() => None,
        };
        let (stream, mut extensions) = stream?;
        extensions.insert(peer);
        Some(Opened {
            stream,
            peer_watch,
            extensions,
            limits,
            closing,
            work,
        })
    }
}

/// Accepts connections within the limits until `shutdown` completes. Then waits for the open
/// connections and for [`Work`], for at most [`Limits::drain_timeout`].
///
/// `serve` returns the future that serves one connection. `spawn` starts that future as a task of
/// the set.
///
/// # Errors
///
/// The listener cannot be used.
pub async fn serve_connections<F>(
    listener: std::net::TcpListener,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
    serve: impl Fn(Accepted) -> F,
    spawn: impl Fn(&mut JoinSet<()>, F),
) -> io::Result<()> {
    let accepted = Connections::listen(listener, limits.clone())?;
    let (limits, mut shutdown) = (Arc::new(limits), pin!(shutdown));
    let (closing, mut connections) = (watch::Sender::new(false), JoinSet::new());
    let (work, mut working) = mpsc::channel(1);
    let work = Work { _open: work };
    loop {
        let (socket, peer) = tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            next = accepted.accept() => next,
        };
        let (closing, work) = (Closing(closing.subscribe()), work.clone());
        let limits = Arc::clone(&limits);
        let next = Accepted {
            socket,
            peer,
            limits,
            closing,
            work,
        };
        spawn(&mut connections, serve(next));
    }
    drop((accepted, work));
    closing.send_replace(true);
    let drained = async {
        while connections.join_next().await.is_some() {}
        // work that continues after its connection has ended
        while working.recv().await.is_some() {}
    };
    timeout(limits.drain_timeout, drained).await.ok();
    Ok(())
}
