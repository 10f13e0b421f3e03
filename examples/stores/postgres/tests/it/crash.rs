//! A process that is killed while it writes, and another one that continues.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{self, Child, Command, Stdio};

use futures_util::future::join_all;
use host_store_postgres::{Database, sqlx};
use sqlx::AssertSqlSafe;
use webhook_core::receiver::{Claim, Dedupe};
use webhook_core::sender::{DeliveryState, Disposition, Enqueued, Outbox, Settled};

use crate::server::schema;
use crate::support::{
    LEASE, START, deliveries, event, incoming, lease, note_and_enqueue, request, settle, settlement,
    with_notes,
};

/// Tells a second process of the test binary the schema to write to until it is killed.
const VICTIM: &str = "STORE_POSTGRES_VICTIM";
const ROUND: &str = "STORE_POSTGRES_ROUND";
const TASKS: usize = 4;
const TURNS: usize = 100_000;

/// W15, W7: kill -9 during a burst loses nothing acknowledged, leaves nothing half done, and blocks
/// no other process.
#[tokio::test]
async fn killed_process_loses_nothing_and_blocks_no_other() {
    let schema = schema!();
    let database = with_notes(schema.database().await).await;
    let name = format!("victim-{}", process::id());
    let url = format!("{}&application_name={name}", schema.url());
    let (mut stored, mut settled) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..4 {
        for line in kill_after(start(&url, round), 40 + 60 * round) {
            match line.split_once(' ').unwrap() {
                ("stored", id) => stored.insert(id.parse::<i64>().unwrap()),
                (_, id) => settled.insert(id.to_owned()),
            };
        }
        until_the_server_noticed(&database, &name).await;
        let notes = numbers(&database, "SELECT id FROM note").await;
        let lost: Vec<_> = stored.difference(&notes).collect();
        assert!(lost.is_empty(), "round {round}: lost {lost:?}");
        assert_eq!(
            notes,
            numbers(&database, &of_event("webhook_event", "id")).await,
            "a note without its event"
        );
        let received = numbers(&database, &of_event("webhook_received", "event")).await;
        let lost: Vec<_> = stored.difference(&received).collect();
        assert!(lost.is_empty(), "round {round}: lost received {lost:?}");
        assert_eq!(
            received,
            numbers(&database, &of_event("webhook_claim", "event")).await,
            "claimed, not queued"
        );
    }
    finish(&database).await;
    let delivered = deliveries(&database).await;
    assert_eq!(
        delivered.len(),
        numbers(&database, "SELECT id FROM note").await.len() * 2
    );
    assert!(
        delivered
            .iter()
            .all(|delivery| delivery.state == DeliveryState::Acked)
    );
    // a settled delivery that is leased again would be a lost write
    let forgotten = |id: &str| {
        delivered
            .iter()
            .any(|delivery| delivery.id.to_string() == id && delivery.fence != 1)
    };
    assert!(!settled.is_empty() && !settled.iter().any(|id| forgotten(id)));
}

/// Waits until the server has ended the connections of the killed process.
async fn until_the_server_noticed(database: &Database, name: &str) {
    let alive = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
    while sqlx::query_scalar::<_, i64>(alive)
        .bind(name)
        .fetch_one(database.pool())
        .await
        .unwrap()
        > 0
    {}
}

/// Delivers the rest, after the leases of the killed process have expired.
async fn finish(database: &Database) {
    loop {
        let leased = database.lease(&request(START + LEASE, 64)).await.unwrap().leased;
        if leased.is_empty() {
            break;
        }
        let batch = leased.iter().map(|leased| settlement(leased, Disposition::Acked));
        let settled = settle(database, batch.collect()).await;
        assert!(settled.iter().all(|settled| *settled == Settled::Applied));
    }
}

fn of_event(table: &str, column: &str) -> String {
    format!("SELECT substr({column}, length('evt_') + 1)::bigint FROM {table}")
}

async fn numbers(database: &Database, query: &str) -> BTreeSet<i64> {
    let query = sqlx::query_scalar(AssertSqlSafe(query.to_owned()));
    let numbers: Vec<i64> = query.fetch_all(database.pool()).await.unwrap();
    numbers.into_iter().collect()
}

/// The process of the test above. Without its variable it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let Ok(url) = env::var(VICTIM) else { return };
    let round: usize = env::var(ROUND).unwrap().parse().unwrap();
    let database = Database::connect(&url).await.unwrap();
    let tasks = (0..TASKS).map(|task| {
        let database = database.clone();
        tokio::spawn(async move {
            for turn in 0..TURNS {
                send_and_receive(&database, (round * TURNS + turn) * TASKS + task).await;
                deliver(&database).await;
            }
        })
    });
    join_all(tasks).await;
}

/// Sends one event, in one transaction with its note, and receives one.
async fn send_and_receive(database: &Database, number: usize) {
    let id = number.try_into().unwrap();
    let enqueued = note_and_enqueue(database, id, event(number, &["ep_1", "ep_2"]))
        .await
        .unwrap();
    assert_eq!(enqueued, Enqueued::Enqueued);
    let claim = database
        .claim_and_enqueue(incoming(number, START + LEASE), START)
        .await
        .unwrap();
    assert_eq!(claim, Claim::Enqueued);
    acknowledge(&format!("stored {id}"));
}

async fn deliver(database: &Database) {
    let leased = lease(database, 3).await;
    let batch = leased.iter().map(|leased| settlement(leased, Disposition::Acked));
    settle(database, batch.collect()).await;
    for leased in leased {
        acknowledge(&format!("settled {}", leased.delivery.id));
    }
}

fn acknowledge(what: &str) {
    let mut acknowledgements = stdout();
    // fails, and ends the process, after the killer has ended
    writeln!(acknowledgements, "acknowledged {what}").unwrap();
}

fn start(url: &str, round: usize) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "crash::victim", "--nocapture"])
        .env(VICTIM, url)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the victim acknowledge `count` verbs, kills it, and returns all that it acknowledged.
fn kill_after(mut victim: Child, count: usize) -> Vec<String> {
    let mut output = BufReader::new(victim.stdout.take().unwrap());
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        // the last line may be cut
        let whole = line.strip_suffix('\n');
        if let Some(what) = whole.and_then(|line| line.strip_prefix("acknowledged ")) {
            acknowledged.push(what.to_owned());
            if acknowledged.len() == count {
                victim.kill().unwrap();
            }
        }
        line.clear();
    }
    assert!(!victim.wait().unwrap().success(), "it ended by itself");
    assert!(acknowledged.len() >= count);
    acknowledged
}
