//! The server that the tests run against, and a prefix of keys for each test.
//!
//! Without a server a suite prints one line and is skipped; with `CI=true` it fails.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{Write, stderr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use std::{env, process, thread};

use host_store_redis::{Database, redis};
use redis::{Client, Commands, Connection};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// A database without keys, or `return` from the test if there is no server.
macro_rules! fresh {
    () => {
        $crate::server::prefix!().database().await
    };
}
pub(crate) use fresh;

/// A prefix of this test alone, or `return` from the test.
macro_rules! prefix {
    () => {
        match $crate::server::Prefix::fresh(module_path!()) {
            Some(prefix) => prefix,
            None => return,
        }
    };
}
pub(crate) use prefix;

fn url() -> String {
    env::var("TEST_REDIS_URL").unwrap_or_else(|_| "redis://127.0.0.1:6379".to_owned())
}

fn connect() -> Option<Connection> {
    let client = Client::open(url()).unwrap();
    client.get_connection_with_timeout(Duration::from_secs(5)).ok()
}

/// Prints one line per suite past the test harness, which hides the output of a passing test.
pub(crate) fn skip(suite: &'static str) {
    static SKIPPED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    assert!(
        env::var("CI").as_deref() != Ok("true"),
        "CI needs the Redis of TEST_REDIS_URL"
    );
    if SKIPPED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(suite)
    {
        let line = format!("skipped, nothing proven: {suite} (no Redis; set TEST_REDIS_URL)\n");
        stderr().write_all(line.as_bytes()).unwrap();
    }
}

thread_local! {
    static PREFIXES: RefCell<Vec<Dropped>> = const { RefCell::new(Vec::new()) };
}

/// Keys that last as long as the thread of their test.
#[derive(Clone)]
pub(crate) struct Prefix(String);

impl Prefix {
    pub(crate) fn fresh(suite: &'static str) -> Option<Self> {
        if connect().is_none() {
            skip(suite);
            return None;
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let prefix = format!(
            "host-store-redis-test-{}-{}-{:?}",
            process::id(),
            since.as_nanos(),
            thread::current().id()
        );
        PREFIXES.with_borrow_mut(|prefixes| prefixes.push(Dropped(prefix.clone())));
        Some(Self(prefix))
    }

    pub(crate) async fn database(&self) -> Database {
        self.database_at(&url()).await
    }

    pub(crate) async fn database_at(&self, url: &str) -> Database {
        Database::connect(url, &self.0).await.unwrap()
    }

    /// All keys with the prefix, without it.
    pub(crate) fn keys(&self) -> Vec<String> {
        let keys = keys(&mut connect().unwrap(), &self.0);
        keys.iter()
            .map(|key| {
                String::from_utf8_lossy(key)
                    .split_once("}:")
                    .unwrap()
                    .1
                    .to_owned()
            })
            .collect()
    }

    /// Runs a command on one of the keys, past the store.
    pub(crate) fn raw<T: redis::FromRedisValue>(&self, command: &str, name: &str, arguments: &[&str]) -> T {
        let key = format!("{{{}}}:{name}", self.0);
        redis::cmd(command)
            .arg(key)
            .arg(arguments)
            .query(&mut connect().unwrap())
            .unwrap()
    }

    /// Runs a command on the server.
    pub(crate) fn command(command: &[&str]) -> String {
        let (name, arguments) = command.split_first().unwrap();
        redis::cmd(name)
            .arg(arguments)
            .query(&mut connect().unwrap())
            .unwrap()
    }
}

fn keys(connection: &mut Connection, prefix: &str) -> Vec<Vec<u8>> {
    let keys = connection.scan_match(format!("{{{prefix}}}:*")).unwrap();
    keys.map(|key| key.unwrap()).collect()
}

struct Dropped(String);

impl Drop for Dropped {
    fn drop(&mut self) {
        // if this fails the keys stay, and the test keeps its own result
        if let Some(mut connection) = connect() {
            let keys = keys(&mut connection, &self.0);
            if !keys.is_empty() {
                connection.del::<_, ()>(keys).ok();
            }
        }
    }
}

/// A connection to the server that the test can cut.
pub(crate) struct Wire {
    port: u16,
    accepts: AbortHandle,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
}

impl Wire {
    pub(crate) async fn laid() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections: Arc<Mutex<Vec<AbortHandle>>> = Arc::default();
        let ended = Arc::clone(&connections);
        let accepts = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let carried = tokio::spawn(async move {
                    let mut server = TcpStream::connect(address()).await.unwrap();
                    tokio::io::copy_bidirectional(&mut client, &mut server).await.ok();
                });
                ended.lock().unwrap().push(carried.abort_handle());
            }
        });
        Self {
            port,
            accepts: accepts.abort_handle(),
            connections,
        }
    }

    /// Cuts every connection, later ones too.
    pub(crate) fn end(&self) {
        self.accepts.abort();
        self.cut();
    }

    pub(crate) fn url(&self) -> String {
        url().replace(&address(), &format!("127.0.0.1:{}", self.port))
    }

    pub(crate) fn cut(&self) {
        self.connections
            .lock()
            .unwrap()
            .drain(..)
            .for_each(|carried| carried.abort());
    }
}

/// Host and port of the server's URL.
fn address() -> String {
    let client = Client::open(url()).unwrap();
    client.get_connection_info().addr().to_string()
}
