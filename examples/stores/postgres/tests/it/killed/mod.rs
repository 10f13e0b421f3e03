//! The server is killed while clients redeem codes and rotate refresh tokens; no chain is broken.
//!
//! `chain` has the requests of a client and their results, `proof` the invariants of the tables.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod chain;
mod proof;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use host_ports::testing::ManualClock;
use host_store_postgres::Database;
use oauth_core::basic::BasicCredentials;
use oauth_core::jose::{SigningKey, SigningKeys};
use oauth_core::memory::{MemoryClients, MemoryInteractions};
use oauth_core::ports::OsEntropy;
use oauth_core::server::AuthorizationServer;
use oauth_core::store::{ClientSecrets, RegisteredClient};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use self::chain::Chain;
use crate::own_server::OwnServer;
use crate::server::skip;

const ROUNDS: usize = 5;
/// Number of clients that are active when the server is killed, each with a chain of its own.
const CLIENTS: usize = 16;
/// Number of responses after which a round ends, plus some more in each round.
const ANSWERS: usize = 60;
const PATIENCE: Duration = Duration::from_secs(30);

/// O6, O9, O10, O13, 41, 51, 52, 63: PostgreSQL killed during a burst of redemptions, rotations and
/// revocations keeps at most one family per code, one leaf per family, and every acknowledged
/// write; no revoked family is active.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_postgresql_breaks_no_chain() {
    let Some(mut postgres) = OwnServer::start().await else {
        return skip(
            module_path!(),
            "the programs of PostgreSQL under /usr/lib/postgresql",
        );
    };
    let desk = Arc::new(Desk::new(Database::connect(&postgres.url()).await.unwrap()));
    let mut chains: Vec<Chain> = Vec::new();
    let (mut in_doubt, mut carried_out) = (0, 0);
    for round in 0..ROUNDS {
        let burst = Burst::start(&desk, &mut chains);
        burst.until(ANSWERS + 20 * round).await;
        postgres.kill();
        burst.stop.store(true, Ordering::Relaxed);
        postgres.start_again().await;
        chains.extend(burst.end().await);

        assert_eq!(postgres.recoveries(), round + 1);
        proof::of_the_tables(&desk.database).await;
        for chain in &chains {
            proof::of_a_chain(&desk, chain).await;
        }
        for chain in chains.iter_mut().filter(|chain| chain.is_in_doubt()) {
            in_doubt += 1;
            carried_out += usize::from(chain.ask_again(&desk).await);
        }
    }
    proof::of_the_tables(&desk.database).await;
    assert!(in_doubt > 0, "no request was under way when the server died");
    println!("{in_doubt} requests were cut off, {carried_out} of them after they had been carried out");
}

/// An authorization server on the database that is killed, with one client.
pub(crate) struct Desk {
    server: AuthorizationServer,
    database: Database,
    client: RegisteredClient,
    credentials: BasicCredentials,
    now: SystemTime,
}

impl Desk {
    fn new(database: Database) -> Self {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let credentials = BasicCredentials {
            client_id: "web".parse().unwrap(),
            secret: "the client's secret".parse().unwrap(),
        };
        let secrets = ClientSecrets::new(&credentials.secret);
        let client = RegisteredClient::confidential(credentials.client_id.clone(), secrets)
            .with_scopes("read:charges".parse().unwrap());
        let key = SigningKey::generate_ed25519(&OsEntropy).unwrap();
        let server = AuthorizationServer::builder("https://auth.example")
            .with_clients(MemoryClients::from_iter([client.clone()]))
            .with_interactions(MemoryInteractions::new())
            .with_tokens(database.clone())
            .with_clock(ManualClock::new(now))
            .with_entropy(OsEntropy)
            .with_signing_keys(SigningKeys::new(key))
            .with_audience("https://api.example")
            .build()
            .unwrap();
        Self {
            server,
            database,
            client,
            credentials,
            now,
        }
    }
}

/// Clients that send requests until they are stopped or get no response.
struct Burst {
    stop: Arc<AtomicBool>,
    answers: watch::Sender<usize>,
    clients: Vec<JoinHandle<Vec<Chain>>>,
}

impl Burst {
    /// Starts the clients, each with a live chain if one is left.
    fn start(desk: &Arc<Desk>, chains: &mut Vec<Chain>) -> Self {
        let (stop, answers) = (Arc::new(AtomicBool::new(false)), watch::Sender::new(0));
        let mut living: Vec<Chain> = chains.extract_if(.., |chain| chain.is_alive()).collect();
        let clients = (0..CLIENTS).map(|number| {
            let (desk, stop, answers) = (Arc::clone(desk), Arc::clone(&stop), answers.clone());
            let inherited: Vec<Chain> = living.pop().into_iter().collect();
            tokio::spawn(async move {
                let mut client = chain::Client {
                    number,
                    turn: 0,
                    chains: inherited,
                };
                while !stop.load(Ordering::Relaxed) && client.ask(&desk).await {
                    answers.send_modify(|answers| *answers += 1);
                }
                client.chains
            })
        });
        let clients = clients.collect();
        chains.append(&mut living);
        Self {
            stop,
            answers,
            clients,
        }
    }

    async fn until(&self, answers: usize) {
        let mut given = self.answers.subscribe();
        let answered = timeout(PATIENCE, given.wait_for(|given| *given >= answers)).await;
        assert!(answered.is_ok(), "{} answers", *self.answers.borrow());
    }

    async fn end(self) -> Vec<Chain> {
        let ended = join_all(self.clients).await;
        ended.into_iter().flat_map(Result::unwrap).collect()
    }
}
