//! Subscribers that may have missed a change: their connection ends, so that they subscribe again
//! and read the charges.

use std::io::Read;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use host_store_redis::redis::Client as Redis;
use host_store_sqlite::Database;
use http_body_util::BodyExt;
use service::app::{App, Body, Config};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::desk::{ALL_SCOPES, BASE, bearer, charge, open};
use crate::fan_out::{Process, redis};
use crate::own_redis::OwnRedis;
use crate::postgres::{Lock, Schema};
use crate::subscriptions::{Client, rest, subscribe, subscribe_as, subscribe_single};
use crate::two_processes::{CHARGE, Pair, headers, status};
use crate::way::Way;

const PATIENCE: Duration = Duration::from_secs(20);
const PARTS: &str = "multipart/mixed;subscriptionSpec=1.0";

/// A service on a database and a Redis server, with its background work.
struct Worked {
    app: Arc<App>,
    token: String,
    work: JoinHandle<()>,
}

impl Worked {
    async fn start(database: &Path, redis: &str) -> Self {
        let mut config = Config::new(BASE, Database::open(database).unwrap());
        config.redis = Some(Redis::open(redis).unwrap());
        let app = Arc::new(App::open(config).await.unwrap());
        let token = bearer(&app, ALL_SCOPES).await;
        let working = Arc::clone(&app);
        let work = tokio::spawn(async move { working.work().await });
        Self { app, token, work }
    }
}

impl Drop for Worked {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Reads a body until it contains `wanted`; `false` if it ends before.
async fn has_heard(body: &mut Body, wanted: &str) -> bool {
    let hears = async {
        let mut heard = String::new();
        while !heard.contains(wanted) {
            let Some(frame) = body.frame().await else {
                return false;
            };
            heard.push_str(&String::from_utf8_lossy(&frame.unwrap().into_data().unwrap()));
        }
        true
    };
    timeout(PATIENCE, hears).await.unwrap()
}

/// Waits until `there` receives the announcements of `here`.
async fn hears(there: &Worked, here: &Worked) {
    let heard = async {
        loop {
            let mut body = subscribe(&there.app, &there.token).await;
            let path = charge(&here.app, &here.token, 500).await;
            let id = path.trim_start_matches("/v1/charges/");
            // ends without the charge if `there` has just begun to listen
            if let Ok(true) = timeout(Duration::from_secs(1), has_heard(&mut body, id)).await {
                return;
            }
        }
    };
    timeout(PATIENCE, heard).await.unwrap();
}

/// X6, G10: after Redis was killed and restarted, every subscription ends, over each transport.
#[tokio::test]
async fn subscriptions_end_after_redis_restarts() {
    let Some(mut redis) = OwnRedis::start("redis_restarts") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("desk.sqlite");
    let here = Worked::start(&database, &redis.url()).await;
    let there = Worked::start(&database, &redis.url()).await;
    hears(&there, &here).await;

    let events = tokio::spawn(rest(subscribe(&there.app, &there.token).await));
    let parts = tokio::spawn(rest(subscribe_as(&there.app, &there.token, PARTS).await));
    let single = tokio::spawn(rest(subscribe_single(&there.app, &there.token).await.0));
    let mut socket = Client::ready(&there.app, &there.token).await;
    socket.subscribe();
    redis.kill();
    // no process can announce this charge
    let missed = charge(&here.app, &here.token, 4711).await;
    let missed = missed.trim_start_matches("/v1/charges/");
    let open = [&events, &parts, &single].map(JoinHandle::is_finished);
    assert_eq!(open, [false; 3]);
    redis.restart();
    for stream in [events, parts, single] {
        let read = stream.await.unwrap();
        assert!(!read.contains(missed) && !read.contains("complete"), "{read}");
        assert!(!read.contains("--graphql--"), "{read}");
    }
    assert_eq!(socket.hear().await, "1001");
    hears(&there, &here).await;
}

/// X6, G10: a subscriber that falls 256 changes behind is not sent the later ones as if it had all.
#[tokio::test]
async fn subscription_that_lags_ends() {
    let app = open().await;
    let token = bearer(&app, ALL_SCOPES).await;
    let mut body = subscribe(&app, &token).await;
    // the subscription begins when it is first polled
    let (has_heard, _) = tokio::join!(has_heard(&mut body, "chargeUpdated"), charge(&app, &token, 1));
    assert!(has_heard);
    for _ in 0..257 {
        charge(&app, &token, 2).await;
    }
    let read = rest(body).await;
    assert!(!read.contains("complete"), "{read}");
}

/// X6: a process that drains publishes the changes that it has not yet announced.
#[tokio::test]
async fn drain_publishes_the_last_changes() {
    let Some(url) = redis("drain_publishes") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("desk.sqlite");
    let here = Worked::start(&database, &url).await;
    let there = Worked::start(&database, &url).await;
    hears(&there, &here).await;
    let mut listener = Redis::open(url).unwrap().get_async_pubsub().await.unwrap();
    listener.psubscribe("*channel:charges").await.unwrap();
    let made = join_all((0..100).map(|_| charge(&here.app, &here.token, 7))).await;
    here.app.drain();
    let mut heard = Vec::new();
    let mut messages = listener.on_message();
    let all = async {
        while made
            .iter()
            .any(|path| !heard.contains(&path.replace("/v1/charges/", "")))
        {
            let message: String = messages.next().await.unwrap().get_payload().unwrap();
            heard.extend(message.split_once(' ').map(|(_, id)| id.to_owned()));
        }
    };
    timeout(PATIENCE, all).await.unwrap();
}

/// Opens a subscription at a process, and returns its connection when it hears changes.
fn subscribed(process: &Process) -> TcpStream {
    let query = "subscription { chargeUpdated { amount } }";
    let mut updates = process.graph("text/event-stream", query);
    updates.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&heard).contains("chargeUpdated") {
        let made = process.answer("POST /v1/charges", &headers(&process.token(), ""), CHARGE);
        assert_eq!(status(&made), "201", "{made}");
        let length = updates.read(&mut buffer).unwrap();
        assert!(length > 0, "the subscription has ended");
        heard.extend(buffer.into_iter().take(length));
    }
    updates
}

/// Waits until the server ends the response; the comments in it keep the connection alive.
fn ends(mut updates: TcpStream) {
    let (mut rest, mut buffer, began) = (Vec::new(), [0; 4096], Instant::now());
    loop {
        let length = updates.read(&mut buffer).unwrap();
        if length == 0 {
            break;
        }
        rest.extend(buffer.into_iter().take(length));
        assert!(began.elapsed() < 2 * PATIENCE, "the subscription goes on");
    }
    let rest = String::from_utf8_lossy(&rest);
    assert!(
        rest.ends_with("0\r\n\r\n") && !rest.contains("complete"),
        "{rest}"
    );
}

/// X6, G10: a killed process may have committed a change and not published it, so the subscriptions
/// at the other end.
#[test]
fn subscription_ends_after_the_other_process_is_killed() {
    let Some(Pair {
        _schema,
        mut here,
        there,
    }) = Pair::start("killed_teller")
    else {
        return;
    };
    // the other process knows of this one
    crate::fan_out::hears_changes(&here, &there);
    let updates = subscribed(&there);
    here.kill();
    ends(updates);
}

/// X6, G10: subscriptions at one process end when another could not publish a change.
#[test]
fn subscription_ends_after_an_announcement_was_lost() {
    let (Some(schema), Some(redis)) = (Schema::fresh("lost_announcement"), redis("lost_announcement")) else {
        return;
    };
    let way = Way::to(&redis, 6379);
    let binary = env!("CARGO_BIN_EXE_service-hyper");
    let here = Process::start(binary, &schema.url(), &way.url);
    let there = Process::start_beside(&here, binary, &schema.url(), &redis);
    crate::fan_out::hears_changes(&here, &there);
    let updates = subscribed(&there);
    way.cut();
    let made = here.answer("POST /v1/charges", &headers(&here.token(), ""), CHARGE);
    assert_eq!(status(&made), "201", "{made}");
    // the way stays cut until an operation after the publication has failed
    for _ in 0..2 {
        let ready = here.answer("GET /readyz", "", "");
        assert_eq!(status(&ready), "503", "{ready}");
    }
    way.restore();
    ends(updates);
}

/// X6, G10: subscriptions end after the connection to the database broke during a write, since the
/// write may be committed.
#[test]
fn subscription_ends_after_the_outcome_of_a_write_is_unknown() {
    let (Some(schema), Some(redis)) = (Schema::fresh("unknown_outcome"), redis("unknown_outcome")) else {
        return;
    };
    let way = Way::to(&schema.url(), 5432);
    let process = Process::start(env!("CARGO_BIN_EXE_service-hyper"), &way.url, &redis);
    let headers = headers(&process.token(), "");
    let updates = subscribed(&process);
    let mut lock = Lock::take(&schema.url());
    let mut write = process.send("POST /v1/charges", &headers, CHARGE);
    lock.blocks_a_write();
    way.cut();
    let mut failed = String::new();
    write.read_to_string(&mut failed).unwrap();
    assert!(status(&failed).starts_with('5'), "{failed}");
    lock.release();
    way.restore();
    ends(updates);
}
