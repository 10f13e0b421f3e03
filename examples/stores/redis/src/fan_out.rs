//! Fan-out: messages from one process to all listening processes.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use redis::aio::{PubSub, PubSubSink, PubSubStream};
use redis::{Client, Value};
use tokio::time::{sleep, timeout};

use crate::database::{Database, DatabaseError, DatabaseErrorKind};

/// Timeout of a connection attempt, and of the response to a ping.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time without a message after which the listener pings the server.
const SILENCE: Duration = Duration::from_secs(15);
/// Pause before a failed connection is retried.
const PAUSE: Duration = Duration::from_millis(200);

impl Database {
    /// Publishes a message to every process that listens on `channel`, this one included.
    ///
    /// `Ok` means that the server accepted the message, not that a listener received it. Processes
    /// that listen later do not receive it.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`], of the same kinds as for an operation of a store.
    pub async fn publish(&self, channel: &str, message: Bytes) -> Result<(), DatabaseError> {
        let channel = self.channel(channel);
        self.run(move |mut connection| async move {
            let mut publish = redis::cmd("PUBLISH");
            let publish = publish.arg(channel).arg(message.as_ref());
            let _listeners: i64 = publish.query_async(&mut connection).await?;
            Ok(())
        })
        .await
    }

    /// Starts to listen on `channel`, over a separate connection.
    ///
    /// # Errors
    ///
    /// - [`Unavailable`](DatabaseErrorKind::Unavailable): the server cannot be reached within 5 s.
    /// - [`Failed`](DatabaseErrorKind::Failed): the server refuses the connection or the
    ///   subscription.
    pub async fn listen(&self, channel: &str) -> Result<Listener, DatabaseError> {
        let mut listener = Listener {
            client: self.client().clone(),
            channel: self.channel(channel),
            live: None,
        };
        listener.live = Some(listener.connected().await?);
        Ok(listener)
    }

    fn channel(&self, name: &str) -> String {
        self.key(format_args!("channel:{name}"))
    }
}

/// Result of [`Listener::next`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Received {
    /// A message.
    Message(Bytes),
    /// The connection broke and is re-established. Messages that were published meanwhile are lost.
    Reconnected,
}

/// Subscription to one channel, from [`Database::listen`]. It returns the messages in order.
///
/// After 15 s without a message the listener pings the server. If the connection breaks, or the
/// server does not respond within 5 s, the listener tries to reconnect every 200 ms, without limit.
/// Messages that are published meanwhile are lost, because delivery is at most once: after it has
/// reconnected, the listener returns [`Received::Reconnected`].
pub struct Listener {
    client: Client,
    channel: String,
    live: Option<(PubSubSink, PubSubStream)>,
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Listener")
            .field("channel", &self.channel)
            .finish_non_exhaustive()
    }
}

impl Listener {
    /// Waits for the next message, or for a new connection. Dropping the future loses neither.
    pub async fn next(&mut self) -> Received {
        loop {
            let Some((asks, hears)) = &mut self.live else {
                match self.connected().await {
                    Ok(live) => {
                        self.live = Some(live);
                        return Received::Reconnected;
                    }
                    Err(_) => sleep(PAUSE).await,
                }
                continue;
            };
            let is_there = async {
                sleep(SILENCE).await;
                matches!(timeout(PATIENCE, asks.ping::<Value>()).await, Ok(Ok(_)))
            };
            tokio::select! {
                message = hears.next() => match message {
                    Some(message) => {
                        let message = Bytes::copy_from_slice(message.get_payload_bytes());
                        return Received::Message(message);
                    }
                    None => self.live = None,
                },
                is_there = is_there => if !is_there {
                    self.live = None;
                },
            }
        }
    }

    async fn connected(&self) -> Result<(PubSubSink, PubSubStream), DatabaseError> {
        let connected = async {
            let mut subscribed: PubSub = self.client.get_async_pubsub().await?;
            subscribed.subscribe(&self.channel).await?;
            Ok(subscribed.split())
        };
        let in_time = timeout(PATIENCE, connected).await;
        in_time.unwrap_or_else(|late| Err(DatabaseError::new(DatabaseErrorKind::Unavailable, late)))
    }
}
