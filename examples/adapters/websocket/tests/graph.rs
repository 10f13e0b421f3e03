//! `graphql-transport-ws` over in-memory messages, with a virtual clock and a real engine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::future::pending;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::{Stream, StreamExt, sink, stream};
use graph_core::subscription::transport_ws::{
    AllowedOrigins, ConnectionInit, ConnectionLimits, Handshake, SUBPROTOCOL,
};
use graph_core::{Engine, GraphError, RequestContext, graph_object, graph_subscription};
use host_websocket::graph::{Admission, Host, serve};
use host_websocket::{Message, Received, Socket, Upgrade};
use http::header::SEC_WEBSOCKET_PROTOCOL;
use http::{HeaderMap, HeaderValue};
use juniper::{EmptyMutation, RootNode};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

type Feed = Arc<Mutex<Option<mpsc::Receiver<i32>>>>;
type Context = RequestContext<Feed>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn ping() -> &'static str {
        "pong"
    }
}

type Numbers = Pin<Box<dyn Stream<Item = Result<i32, GraphError>> + Send>>;

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn fed(context: &Context) -> Numbers {
        let feed = context.host().lock().unwrap().take().unwrap();
        stream::unfold(feed, async |mut feed| Some((Ok(feed.recv().await?), feed))).boxed()
    }

    async fn endless() -> Numbers {
        stream::iter(1..).map(Ok).boxed()
    }
}

/// Accepts `good` for an hour, never decides on `slow`, fails on `broken`, refuses the rest.
struct Desk {
    engine: Engine<Query, EmptyMutation<Context>, Subscription>,
    feed: Feed,
    opened: Instant,
}

const OPENED: SystemTime = SystemTime::UNIX_EPOCH;

impl Host for Desk {
    fn now(&self) -> SystemTime {
        OPENED + self.opened.elapsed()
    }

    async fn sleep_until(&self, time: SystemTime) {
        sleep(time.duration_since(self.now()).unwrap_or_default()).await;
    }

    async fn authenticate(&self, init: ConnectionInit) -> Admission {
        match init.text("token").ok().flatten().as_deref() {
            Some("good") => {
                let (engine, feed) = (self.engine.clone(), Arc::clone(&self.feed));
                Admission::Accepted {
                    expires_at: Some(OPENED + Duration::from_secs(3600)),
                    operations: Box::new(move |request| {
                        engine
                            .subscribe(request, RequestContext::new(Arc::clone(&feed)))
                            .boxed()
                    }),
                }
            }
            Some("slow") => pending().await,
            Some("broken") => Admission::Failed,
            _ => Admission::Refused,
        }
    }
}

/// The client's ends of both channels.
struct Client {
    says: mpsc::UnboundedSender<Received>,
    hears: mpsc::Receiver<Message>,
    feed: mpsc::Sender<i32>,
    stop: Option<oneshot::Sender<()>>,
}

impl Client {
    fn connect() -> Self {
        Self::offering(Some(SUBPROTOCOL))
    }

    fn offering(subprotocol: Option<&'static str>) -> Self {
        let mut headers = HeaderMap::new();
        if let Some(subprotocol) = subprotocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(subprotocol));
        }
        let handshake = Handshake::read(&headers, &AllowedOrigins::default()).unwrap();
        let (feed, fed) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        let root = RootNode::new(Query, EmptyMutation::new(), Subscription);
        let desk = Desk {
            engine: Engine::builder(root).build().unwrap(),
            feed: Arc::new(Mutex::new(Some(fed))),
            opened: Instant::now(),
        };
        let upgrade = Upgrade::new(1 << 16, async move |socket: Socket| {
            let connection = handshake.open(ConnectionLimits::default(), desk.now());
            let stopped = async {
                let Ok(()) = stopped.await else { pending().await };
            };
            serve(socket, connection, &desk, Box::pin(stopped)).await;
        });
        let (says, said) = mpsc::unbounded_channel();
        let (hear, hears) = mpsc::channel(1);
        let incoming = stream::unfold(said, async |mut said| Some((said.recv().await?, said)));
        let outgoing = sink::unfold(hear, async |hear, message| {
            hear.send(message).await.map_err(drop)?;
            Ok::<_, ()>(hear)
        });
        tokio::spawn(upgrade.run(incoming, outgoing));
        Self {
            says,
            hears,
            feed,
            stop: Some(stop),
        }
    }

    async fn ready() -> Self {
        let mut client = Self::connect();
        client.say(r#"{"type":"connection_init","payload":{"token":"good"}}"#);
        assert_eq!(client.text().await, r#"{"type":"connection_ack"}"#);
        client
    }

    fn say(&self, text: &str) {
        self.says
            .send(Received::Message(Message::Text(text.to_owned())))
            .unwrap();
    }

    fn subscribe(&self, id: &str, query: &str) {
        self.say(&format!(
            r#"{{"id":"{id}","type":"subscribe","payload":{{"query":"{query}"}}}}"#
        ));
    }

    async fn text(&mut self) -> String {
        match self.hears.recv().await.unwrap() {
            Message::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    /// Code of the close frame, after all messages before it.
    async fn closed(&mut self) -> u16 {
        loop {
            match self.hears.recv().await.unwrap() {
                Message::Close(code, _) => return code,
                Message::Text(text) if text == r#"{"type":"ping"}"# => self.say(r#"{"type":"pong"}"#),
                _ => {}
            }
        }
    }
}

/// G10: events are sent when they fire, under the id of their operation, and the end of the source
/// is reported.
#[tokio::test(start_paused = true)]
async fn events_are_sent_when_they_fire() {
    let mut client = Client::ready().await;
    client.subscribe("s", "subscription { fed }");
    client.subscribe("q", "{ ping }");
    assert_eq!(
        client.text().await,
        r#"{"id":"q","type":"next","payload":{"data":{"ping":"pong"}}}"#
    );
    assert_eq!(client.text().await, r#"{"id":"q","type":"complete"}"#);
    for number in [4, 2] {
        client.feed.send(number).await.unwrap();
        let expected = format!(r#"{{"id":"s","type":"next","payload":{{"data":{{"fed":{number}}}}}}}"#);
        assert_eq!(client.text().await, expected);
    }
    drop(client.feed);
    let complete = r#"{"id":"s","type":"complete"}"#.to_owned();
    assert_eq!(client.hears.recv().await, Some(Message::Text(complete)));
}

/// G10: an operation that the client completes, or whose connection is lost, is dropped at once.
#[tokio::test(start_paused = true)]
async fn a_completed_operation_and_a_lost_connection_drop_the_source() {
    for leaves in [false, true] {
        let mut client = Client::ready().await;
        client.subscribe("s", "subscription { fed }");
        client.feed.send(1).await.unwrap();
        let _event = client.text().await;
        let before = Instant::now();
        if leaves {
            let Client {
                says, hears, feed, ..
            } = client;
            drop((says, hears));
            feed.closed().await;
        } else {
            client.say(r#"{"id":"s","type":"complete"}"#);
            client.feed.closed().await;
            client.subscribe("s", "{ ping }");
            assert!(client.text().await.contains("pong"));
        }
        assert_eq!(before.elapsed().as_secs(), 0);
    }
}

/// G10, G16: each result of the credential check has its close code, a timeout included.
#[tokio::test(start_paused = true)]
async fn each_verdict_on_the_credentials_has_its_code() {
    for (init, code) in [
        (Some("bad"), 4403),
        (Some("broken"), 4500),
        (Some("slow"), 4408),
        (None, 4408),
    ] {
        let mut client = Client::connect();
        if let Some(token) = init {
            client.say(&format!(
                r#"{{"type":"connection_init","payload":{{"token":"{token}"}}}}"#
            ));
        }
        assert_eq!(client.closed().await, code, "{init:?}");
    }
    assert_eq!(Client::offering(None).closed().await, 4406);
}

/// G10: expired credentials, the host and an invalid message end the connection and its operations.
#[tokio::test(start_paused = true)]
async fn a_connection_ends_with_its_operations() {
    for code in [4403, 1001, 4400, 1009] {
        let mut client = Client::ready().await;
        client.subscribe("s", "subscription { fed }");
        client.feed.send(1).await.unwrap();
        let _event = client.text().await;
        let before = Instant::now();
        match code {
            1001 => client.stop.take().unwrap().send(()).unwrap(),
            4400 => client
                .says
                .send(Received::Message(Message::Binary("".into())))
                .unwrap(),
            1009 => client.says.send(Received::TooLong).unwrap(),
            _ => {}
        }
        assert_eq!(client.closed().await, code);
        if code == 4403 {
            assert_eq!(before.elapsed().as_secs(), 3600);
        }
        client.feed.closed().await;
    }
}

/// G10: an endless source waits for the client, and a client that reads nothing is disconnected.
#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_is_given_up() {
    let mut client = Client::ready().await;
    client.subscribe("s", "subscription { endless }");
    for number in 1..=1000 {
        let expected = format!(r#"{{"id":"s","type":"next","payload":{{"data":{{"endless":{number}}}}}}}"#);
        assert_eq!(client.text().await, expected);
    }
    let before = Instant::now();
    client.feed.closed().await;
    assert!(
        (20..30).contains(&before.elapsed().as_secs()),
        "{:?}",
        before.elapsed()
    );
    let mut left = 0;
    while client.hears.recv().await.is_some() {
        left += 1;
    }
    assert!(left < 25, "{left} frames were kept for it");
}

/// G10: a silent client is pinged, and disconnected without a pong.
#[tokio::test(start_paused = true)]
async fn a_silent_client_is_asked_and_given_up() {
    let mut client = Client::ready().await;
    let before = Instant::now();
    assert_eq!(client.text().await, r#"{"type":"ping"}"#);
    assert_eq!(before.elapsed().as_secs(), 25);
    client.say(r#"{"type":"pong"}"#);
    assert_eq!(client.text().await, r#"{"type":"ping"}"#);
    let Some(Message::Close(code, _)) = client.hears.recv().await else {
        panic!("not closed")
    };
    assert_eq!((code, before.elapsed().as_secs()), (1013, 70));
}
