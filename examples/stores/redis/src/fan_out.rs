//! What one process tells all others, such as that something changed which their subscribers wait for.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use redis::aio::{PubSub, PubSubSink, PubSubStream};
use redis::{Client, Value};
use tokio::time::{sleep, timeout};

use crate::database::{Database, DatabaseError, DatabaseErrorKind};

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a channel may be silent before the server is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(15);
/// How long until a connection that could not be made is tried again.
const PAUSE: Duration = Duration::from_millis(200);

impl Database {
    /// Tells every process that listens on `channel`, this one included if it does.
    ///
    /// # Errors
    ///
    /// As a verb of a store. Whether anybody heard of it is not known, and nobody who listens later will.
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

    /// Listens on `channel`, by a connection of its own, from now on.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](DatabaseErrorKind::Unavailable) when the server cannot be reached.
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

/// What is published on one channel, in its order.
///
/// A connection that breaks, or whose server is silent when it is asked, is made anew, as often as it takes. What is published
/// meanwhile is not heard: each message is told once at most.
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
    /// The next message. A future that is dropped has taken none.
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
