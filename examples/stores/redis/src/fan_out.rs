//! Fan-out: messages from one process to all listening processes.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use redis::aio::{PubSub, PubSubSink, PubSubStream};
use redis::{Client, Value};
use tokio::time::{sleep, timeout};

use crate::database::{Database, DatabaseError, DatabaseErrorKind};

/// Timeout for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(5);
/// Silence of a channel after which the server is pinged.
const SILENCE: Duration = Duration::from_secs(15);
/// Pause before a failed connection is retried.
const PAUSE: Duration = Duration::from_millis(200);

impl Database {
    /// Publishes a message to every process that listens on `channel`, this one included.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`], as for an operation of a store. `Ok` does not mean that a listener got
    /// the message, and later listeners do not get it.
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

    /// Listens on `channel` from now on, over a connection of its own.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](DatabaseErrorKind::Unavailable): the server cannot be reached.
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

/// Messages of one channel, in order.
///
/// The listener pings the server after 15 s without a message. If the connection breaks or the
/// server does not answer within 5 s, it reconnects, every 200 ms and without limit. Messages that
/// are published meanwhile are lost: delivery is at most once.
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
    /// Waits for the next message. Dropping the future loses no message.
    pub async fn next(&mut self) -> Bytes {
        loop {
            let Some((asks, hears)) = &mut self.live else {
                match self.connected().await {
                    Ok(live) => self.live = Some(live),
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
                    Some(message) => return Bytes::copy_from_slice(message.get_payload_bytes()),
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
