//! The loop of a server.

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
    /// Stream of the bytes of HTTP.
    pub stream: S,
    /// Observer of the client.
    pub peer_watch: PeerWatch,
    /// Extensions for each request of the connection, with the client's [`SocketAddr`].
    pub known: Extensions,
    /// Limits of the server.
    pub limits: Arc<Limits>,
    /// The begin of the shutdown.
    pub closing: Closing,
    /// Delays the end of the shutdown while a clone exists.
    pub work: Work,
}

/// The begin of the shutdown.
#[derive(Clone, Debug)]
pub struct Closing(watch::Receiver<bool>);

/// Work that the shutdown waits for, also after its connection has ended. The shutdown waits until
/// all clones are dropped.
#[derive(Clone, Debug)]
pub struct Work {
    _open: mpsc::Sender<Infallible>,
}

impl Closing {
    /// Waits for the begin of the shutdown.
    pub async fn begun(&mut self) {
        // an error means that the server is gone
        self.0.wait_for(|is_closing| *is_closing).await.ok();
    }
}

impl Accepted {
    /// Opens the stream of the connection: makes the TLS handshake within the read timeout. `None`
    /// if the handshake failed or the shutdown has begun.
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
            () = closing.begun() => None,
        };
        let (stream, mut known) = stream?;
        known.insert(peer);
        Some(Opened {
            stream,
            peer_watch,
            known,
            limits,
            closing,
            work,
        })
    }
}

/// Accepts connections within the limits until `shutdown` completes. Then waits for the open
/// connections and for [`Work`], for at most [`Limits::drain_timeout`].
///
/// `spawn` starts the future that `converse` returns for a connection, in a task of the set.
///
/// # Errors
///
/// The listener cannot be used.
pub async fn serve_connections<F>(
    listener: std::net::TcpListener,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
    converse: impl Fn(Accepted) -> F,
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
        spawn(&mut connections, converse(next));
    }
    drop((accepted, work));
    closing.send_replace(true);
    let drained = async {
        while connections.join_next().await.is_some() {}
        // work that goes on without its connection
        while working.recv().await.is_some() {}
    };
    timeout(limits.drain_timeout, drained).await.ok();
    Ok(())
}
