//! The connections of one listener.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Limits, Socket, open_connections::OpenConnection};

/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(20);

/// Limit of the unsent bytes that the kernel buffers for one connection.
const UNSENT: u32 = 64 << 10;

/// Number of open connections by client.
type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// Accepts the connections of a listener within the [`Limits`], in total and by client address.
#[derive(Debug)]
pub(crate) struct Connections {
    listener: TcpListener,
    total: Arc<Semaphore>,
    by_address: Counts,
    limits: Limits,
}

/// Place of one connection within the limits. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    _total: OwnedSemaphorePermit,
    _open: OpenConnection,
    counted: Option<(IpAddr, Counts)>,
}

impl Connections {
    /// Starts to accept connections.
    ///
    /// # Errors
    ///
    /// The listener cannot be used.
    pub(crate) fn listen(listener: std::net::TcpListener, limits: Limits) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener: TcpListener::from_std(listener)?,
            total: Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS))),
            by_address: Arc::default(),
            limits,
        })
    }

    /// Accepts the next connection within the limits. A connection over the limit of its address is
    /// closed.
    ///
    /// The future can be dropped: no connection is lost.
    pub(crate) async fn accept(&self) -> (Socket, SocketAddr) {
        loop {
            let Ok(free) = Arc::clone(&self.total).acquire_owned().await else {
                // the semaphore is never closed
                return std::future::pending().await;
            };
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    if let Some(socket) = self.admit(stream, peer.ip(), free) {
                        return (socket, peer);
                    }
                }
                // no file descriptor is free, or the client already left
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    fn admit(&self, stream: TcpStream, peer: IpAddr, free: OwnedSemaphorePermit) -> Option<Socket> {
        let counted = match self.limits.proxies.contains(peer) {
            true => None,
            false => Some(self.count(client_of(peer))?),
        };
        // disables Nagle's algorithm, so that small chunks of a stream are sent at once
        stream.set_nodelay(true).ok();
        // the kernel would store megabytes for a client that reads nothing
        SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT).ok();
        let place = Place {
            _total: free,
            _open: self.limits.open.enter(),
            counted,
        };
        Some(Socket::new(stream, self.limits.write_timeout, place))
    }

    /// Counts one more connection of the client; `None` at its limit.
    fn count(&self, client: IpAddr) -> Option<(IpAddr, Counts)> {
        let mut clients = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let open = clients.entry(client).or_default();
        if *open >= self.limits.connections_by_address {
            return None;
        }
        *open += 1;
        drop(clients);
        Some((client, Arc::clone(&self.by_address)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((client, clients)) = self.counted.take() else {
            return;
        };
        let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = clients.get_mut(&client) {
            *open -= 1;
            if *open == 0 {
                clients.remove(&client);
            }
        }
    }
}

/// The address, or the /64 network of an IPv6 address, because one client usually has a whole /64
/// network.
fn client_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use http_conventions::forwarding::TrustedProxies;

    use super::*;
    use crate::OpenConnections;

    fn listen(limits: Limits) -> (Connections, SocketAddr) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (Connections::listen(listener, limits).unwrap(), address)
    }

    async fn connect(from: &str, to: SocketAddr) -> TcpStream {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
        socket.connect(to).await.unwrap()
    }

    /// X8: a connection counts until it is closed, also one of a proxy; a refused one does not.
    #[tokio::test]
    async fn open_connections_are_counted() {
        let open = OpenConnections::default();
        let (connections, address) = listen(Limits {
            connections_by_address: 1,
            open: open.clone(),
            ..Limits::default()
        });
        let _first = connect("127.0.0.1", address).await;
        let place = connections.accept().await;
        assert_eq!(open.count(), 1);
        let _refused = connect("127.0.0.1", address).await;
        let _other = connect("127.0.0.2", address).await;
        let other = connections.accept().await;
        assert_eq!(other.1.ip().to_string(), "127.0.0.2");
        assert_eq!(open.count(), 2);
        drop((place, other));
        assert_eq!(open.count(), 0);
    }

    /// X10: one address cannot take all connections. A closed connection frees its place.
    #[tokio::test]
    async fn connections_of_one_address_are_limited() {
        let (connections, address) = listen(Limits {
            connections_by_address: 2,
            ..Limits::default()
        });
        let mut held = Vec::new();
        for from in ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2"] {
            held.push(connect(from, address).await);
        }
        let first = connections.accept().await;
        let second = connections.accept().await;
        // `accept` has closed the third connection of the first address
        let other = connections.accept().await;
        assert_eq!(other.1.ip().to_string(), "127.0.0.2");
        held[2].readable().await.unwrap();
        assert_eq!(held[2].try_read(&mut [0]).unwrap_or(0), 0);
        drop(first);
        held.push(connect("127.0.0.1", address).await);
        assert_eq!(connections.accept().await.1.ip().to_string(), "127.0.0.1");
        drop(second);
    }

    /// X10: a listed proxy connects on behalf of many clients.
    #[tokio::test]
    async fn connections_of_proxies_are_not_limited() {
        let proxies = TrustedProxies::new();
        let (connections, address) = listen(Limits {
            connections_by_address: 1,
            proxies: proxies.with_network("127.0.0.1").unwrap(),
            ..Limits::default()
        });
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push((connect("127.0.0.1", address).await, connections.accept().await));
        }
    }

    /// X10: at the limit, the next connection waits for a place.
    #[tokio::test]
    async fn connections_in_total_are_limited() {
        let (connections, address) = listen(Limits {
            connections: 1,
            ..Limits::default()
        });
        let _first = connect("127.0.0.1", address).await;
        let _second = connect("127.0.0.2", address).await;
        let place = connections.accept().await;
        let mut next = Box::pin(connections.accept());
        let waits = tokio::select! {
            biased;
            _ = &mut next => false,
            () = tokio::task::yield_now() => true,
        };
        assert!(waits);
        drop(place);
        assert_eq!(next.await.1.ip().to_string(), "127.0.0.2");
    }

    #[test]
    fn ipv6_clients_are_counted_by_network() {
        let check = |peer: &str, client: &str| {
            assert_eq!(client_of(peer.parse().unwrap()).to_string(), client);
        };
        check("192.0.2.1", "192.0.2.1");
        check("::ffff:192.0.2.1", "192.0.2.1");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
    }
}
