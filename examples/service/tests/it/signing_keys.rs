//! Signing keys, which the processes on one database share and rotate by schedule.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use host_store_postgres::sqlx;
use host_store_sqlite::DatabaseError;
use host_store_sqlite::rusqlite::params;
use serde_json::Value;
use service::app::{App, Config};
use service::clock::DemoClock;
use service::stores::Stores;

use crate::desk::{ALL_SCOPES, BASE, SERVICE, ask, bearer, json, request};
use crate::idempotency::rename;
use crate::postgres::Schema;
use crate::processes::{BINARIES, Process};

const DAY: Duration = Duration::from_secs(86_400);

/// A database that tests also write to.
enum Database {
    Sqlite(host_store_sqlite::Database),
    Postgres(host_store_postgres::Database),
}

impl Database {
    fn stores(&self) -> Stores {
        match self {
            Self::Sqlite(database) => database.clone().into(),
            Self::Postgres(database) => database.clone().into(),
        }
    }

    /// Lets key 2 of both purposes sign from `time` on.
    async fn start_second_key(&self, time: SystemTime) {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let time = i64::try_from(since.as_nanos()).unwrap();
        match self {
            Self::Sqlite(database) => {
                let update = "UPDATE signing_key SET signs_from = ?1 WHERE number = 2";
                let updated = database.write(move |transaction| -> Result<_, DatabaseError> {
                    Ok(transaction.execute(update, params![time])?)
                });
                assert_eq!(updated.await.unwrap(), 2);
            }
            Self::Postgres(database) => {
                let update = sqlx::query("UPDATE signing_key SET signs_from = $1 WHERE number = 2");
                let updated = update.bind(time).execute(database.pool()).await;
                assert_eq!(updated.unwrap().rows_affected(), 2);
            }
        }
    }
}

/// A new database of each kind, with its URL; SQLite alone if there is no PostgreSQL.
async fn on_each(test: &str, folder: &tempfile::TempDir) -> Vec<(Database, String, Option<Schema>)> {
    let path = folder.path().join("desk.sqlite");
    let database = host_store_sqlite::Database::open(&path).unwrap();
    let url = format!("sqlite:{}", path.display());
    let mut all = vec![(Database::Sqlite(database), url, None)];
    if let Some(schema) = Schema::fresh(test) {
        let database = host_store_postgres::Database::connect(&schema.url()).await;
        let url = schema.url();
        all.push((Database::Postgres(database.unwrap()), url, Some(schema)));
    }
    all
}

/// A service that loads the keys by itself, as another process does.
async fn open(stores: Stores, clock: &DemoClock) -> Arc<App> {
    let mut config = Config::new(BASE, stores);
    config.clock = clock.clone();
    config.key_rotation = 10 * DAY;
    Arc::new(App::open(config).await.unwrap())
}

/// X7: keys that would sign for less than two days, or for more than a year, are refused.
#[tokio::test]
async fn rotation_out_of_range_is_refused() {
    for days in [DAY, 366 * DAY, Duration::MAX] {
        let mut config = Config::new(BASE, host_store_sqlite::Database::open_in_memory().unwrap());
        config.key_rotation = days;
        let refused = App::open(config).await.err().unwrap();
        let told = program::in_one_line(&refused);
        assert!(
            told.ends_with("the signing keys: a key signs for 2 to 365 days"),
            "{told}"
        );
    }
}

/// Name of the key that signed a token.
fn signer(token: &str) -> String {
    let token = token.rsplit(' ').next().unwrap();
    let head = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
    let head: Value = serde_json::from_slice(&head).unwrap();
    head.get("kid").and_then(Value::as_str).unwrap().to_owned()
}

async fn published(app: &Arc<App>) -> BTreeSet<String> {
    let keys = json(&ask(app, request("GET", "/.well-known/jwks.json", &[], "")).await);
    let keys = keys.get("keys").and_then(Value::as_array).unwrap().iter();
    keys.map(|key| key.get("kid").and_then(Value::as_str).unwrap().to_owned())
        .collect()
}

async fn assert_accepted(app: &Arc<App>, token: &str) {
    let read = ask(
        app,
        request("GET", "/v1/charges", &[("authorization", token)], ""),
    )
    .await;
    assert_eq!(read.status(), 200, "{read:?}");
    assert!(published(app).await.contains(&signer(token)));
}

/// X7: through three rotations each process accepts and publishes the keys of the other, also if it
/// reads the stored keys only after the other has signed with a new one. A token that was issued
/// before a rotation is accepted until it expires.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_process_accepts_tokens_of_the_other_while_keys_rotate() {
    let folder = tempfile::tempdir().unwrap();
    for (database, _url, _schema) in on_each("rotation", &folder).await {
        let clock = DemoClock::new();
        let here = open(database.stores(), &clock).await;
        let there = open(database.stores(), &clock).await;
        let mut signers = BTreeSet::new();
        for _step in 0..9 {
            let due = here.refresh_keys().await.unwrap();
            let ahead = due - Duration::from_secs(60);
            clock.advance(ahead.duration_since(clock.now()).unwrap_or_default());
            let mut tokens = Vec::new();
            for app in [&here, &there] {
                tokens.push(bearer(app, ALL_SCOPES).await);
            }
            clock.advance(Duration::from_secs(120));
            // the first to see the step, while the other goes by the keys that it has read
            here.refresh_keys().await.unwrap();
            for app in [&here, &there] {
                tokens.push(bearer(app, ALL_SCOPES).await);
            }
            for _read in 0..2 {
                for token in &tokens {
                    assert_accepted(&here, token).await;
                    assert_accepted(&there, token).await;
                }
                there.refresh_keys().await.unwrap();
            }
            assert_eq!(published(&here).await, published(&there).await);
            signers.extend(tokens.iter().map(|token| signer(token)));
        }
        assert_eq!(signers.len(), 4, "{signers:?}");
        // one active key of each purpose, and at most one that comes or goes
        assert!((2..=4).contains(&published(&here).await.len()));
    }
}

/// X7: processes that start together on an empty database have one set of keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_starts_share_one_set_of_keys() {
    let folder = tempfile::tempdir().unwrap();
    for (database, _url, _schema) in on_each("first_keys", &folder).await {
        let clock = DemoClock::new();
        let apps = join_all((0..8).map(|_| open(database.stores(), &clock))).await;
        let sets: BTreeSet<BTreeSet<String>> =
            join_all(apps.iter().map(published)).await.into_iter().collect();
        assert_eq!(sets.len(), 1, "{sets:?}");
        let token = bearer(&apps[0], ALL_SCOPES).await;
        for app in &apps {
            assert_accepted(app, &token).await;
        }
        // so have those that all create the next key
        clock.advance(9 * DAY);
        let due = join_all(apps.iter().map(|app| app.refresh_keys())).await;
        assert!(due.iter().all(Option::is_some));
        join_all(apps.iter().map(|app| app.refresh_keys())).await;
        let sets: BTreeSet<BTreeSet<String>> =
            join_all(apps.iter().map(published)).await.into_iter().collect();
        assert_eq!(sets.iter().map(BTreeSet::len).collect::<Vec<_>>(), [4]);
    }
}

/// X7: while the database fails, a published key signs when its time has come.
#[tokio::test]
async fn keys_follow_their_schedule_while_the_database_fails() {
    let database = host_store_sqlite::Database::open_in_memory().unwrap();
    let clock = DemoClock::new();
    let app = open(database.clone().into(), &clock).await;
    let first = signer(&bearer(&app, ALL_SCOPES).await);
    clock.advance(9 * DAY);
    app.refresh_keys().await.unwrap();
    assert_eq!(signer(&bearer(&app, ALL_SCOPES).await), first);
    rename(&database, "signing_key", "signing_key_away").await;
    clock.advance(DAY);
    assert_eq!(app.refresh_keys().await, None);
    let second = bearer(&app, ALL_SCOPES).await;
    assert_ne!(signer(&second), first);
    assert_accepted(&app, &second).await;
    assert!(published(&app).await.contains(&first));
}

/// Sends a request to the address that a process listens on, and reads the response.
fn answer(address: &str, head: &str, headers: &str, body: &str) -> String {
    let mut peer = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        peer,
        "{head} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    answer
}

/// Key that signs a token of this process, which both accept.
fn signer_of(address: &str, both: [&str; 2]) -> String {
    let headers = format!("authorization: {SERVICE}\r\ncontent-type: application/x-www-form-urlencoded\r\n");
    let form = "grant_type=client_credentials&scope=read:charges";
    let granted = answer(address, "POST /token", &headers, form);
    let (_, token) = granted.split_once(r#""access_token":""#).unwrap();
    let token = token.split('"').next().unwrap();
    for other in both {
        let read = answer(
            other,
            "GET /v1/charges",
            &format!("authorization: Bearer {token}\r\n"),
            "",
        );
        assert!(read.starts_with("HTTP/1.1 200"), "{read}");
    }
    signer(token)
}

/// X7: two running processes rotate their keys by the schedule alone, and accept the tokens of each
/// other before and after.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_running_processes_rotate_together() {
    let folder = tempfile::tempdir().unwrap();
    for (database, url, _schema) in on_each("two_rotate", &folder).await {
        // publishes a second key
        let clock = DemoClock::new();
        let app = open(database.stores(), &clock).await;
        clock.advance(9 * DAY);
        app.refresh_keys().await.unwrap();
        drop(app);
        // after both processes have started
        database
            .start_second_key(SystemTime::now() + Duration::from_secs(10))
            .await;
        let [hyper, axum, _] = BINARIES;
        let mut here = Process::start_at(hyper, &["--listen", "127.0.0.1:0", "--database", &url]);
        let base_url = format!("http://{}", here.address);
        let beside = here.address.replace("127.0.0.1", "127.0.0.2");
        let words = ["--listen", &beside, "--database", &url, "--base-url", &base_url];
        let mut there = Process::start_at(axum, &words);
        let addresses = [here.address.clone(), beside.clone()];
        let both = [addresses[0].as_str(), addresses[1].as_str()];
        let before = both.map(|address| signer_of(address, both));
        assert_eq!(before[0], before[1]);
        for process in [&mut here, &mut there] {
            process.error_with("the signing keys have changed");
        }
        let after = both.map(|address| signer_of(address, both));
        assert_eq!(after[0], after[1]);
        assert_ne!(after[0], before[0]);
    }
}
