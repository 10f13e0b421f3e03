//! Runs the session of a handler over the messages of a framework.

use std::pin::pin;
use std::time::Duration;

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::{Message, Socket, Upgrade};

/// Time for the close frames and the remaining messages after one side has ended.
const LINGER: Duration = Duration::from_secs(2);

/// Input that an adapter reads from its framework.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Received {
    /// A complete message.
    Message(Message),
    /// The beginning of a message above the limit; nothing can be read after it.
    TooLong,
    /// A violation of the WebSocket protocol; nothing can be read after it.
    Malformed,
}

impl Upgrade {
    /// Serves a connection until it is closed. A second call for the same upgrade does nothing.
    ///
    /// `incoming` ends when the peer has left. `outgoing` completes when the peer, or a buffer of
    /// limited size, has taken the message.
    pub async fn run<O>(self, incoming: impl Stream<Item = Received>, outgoing: O)
    where
        O: Sink<Message>,
    {
        let Some(session) = self.take() else { return };
        let (heard, hears) = mpsc::channel(1);
        let (says, said) = mpsc::channel(1);
        // weak, so that the channel closes when the handler drops its end
        let closes = says.downgrade();
        let session = session(Socket {
            incoming: hears,
            outgoing: says,
        });
        let reading = async move {
            let mut incoming = pin!(incoming);
            while let Some(received) = incoming.next().await {
                let close = match received {
                    Received::Message(Message::Close(..)) => return,
                    Received::Message(message) => {
                        // after the handler has ended, messages are dropped until the peer closes
                        let _gone = heard.send(message).await;
                        continue;
                    }
                    Received::TooLong => Message::Close(1009, "The message is too long".to_owned()),
                    Received::Malformed => Message::Close(1002, "Protocol error".to_owned()),
                };
                if let Some(says) = closes.upgrade() {
                    let _gone = says.send(close).await;
                }
                return;
            }
        };
        let writing = async move {
            let (mut outgoing, mut said) = (pin!(outgoing), said);
            while let Some(message) = said.recv().await {
                let is_last = matches!(message, Message::Close(..));
                if outgoing.send(message).await.is_err() || is_last {
                    return;
                }
            }
            let _gone = outgoing.close().await;
        };
        together(session, reading, writing).await;
    }
}

/// Runs all three; after one has ended, the others have [`LINGER`].
async fn together(
    session: impl Future<Output = ()>,
    reading: impl Future<Output = ()>,
    writing: impl Future<Output = ()>,
) {
    let (mut session, mut reading, mut writing) = (pin!(session), pin!(reading), pin!(writing));
    let (mut serves, mut reads, mut writes) = (true, true, true);
    let mut cut = pin!(sleep(LINGER));
    let mut ending = false;
    while serves || reads || writes {
        tokio::select! {
            () = &mut session, if serves => serves = false,
            () = &mut reading, if reads => reads = false,
            () = &mut writing, if writes => writes = false,
            () = &mut cut, if ending => return,
        }
        if !ending {
            ending = true;
            cut.as_mut().reset(Instant::now() + LINGER);
        }
    }
}
