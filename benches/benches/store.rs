//! Durable writes to one SQLite file: many in flight, one at a time, and one per transaction
//! without the suite's code.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use benches::keep_in_flight;
use criterion::{Criterion, SamplingMode, Throughput};
use host_store_sqlite::{Database, DatabaseError};
use oauth_core::{
    grant::{TokenPolicy, authorization_code, refresh_token},
    pkce::CodeVerifier,
    secret::TokenHash,
    store::{
        AccessTokenRecord, AuthorizationCodeRecord, FamilyId, Grant, Insertion, RedeemOutcome,
        RegisteredClient, RotateOutcome, TokenStore as _,
    },
};
use rusqlite::{Connection, TransactionBehavior};
use tokio::runtime::Runtime;

const TABLE: &str =
    "CREATE TABLE charge (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL, customer TEXT NOT NULL) STRICT";
const INSERT: &str = "INSERT INTO charge (amount, customer) VALUES (?1, ?2)";
const CHARGE: (i64, &str) = (1000, "cus_01JD2Q8M7XK3");
const MANY: usize = 64;
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// A table of the host, written through `Database::write`.
fn charges(criterion: &mut Criterion, runtime: &Runtime, directory: &Path) {
    let database = Database::open(directory.join("charges")).expect("a database");
    runtime
        .block_on(database.migrate("desk", &[TABLE]))
        .expect("a table");
    let lane = async |(): &(), writes: u64| {
        for _ in 0..writes {
            let written = database.write(|transaction| -> Result<(), DatabaseError> {
                transaction.prepare_cached(INSERT)?.execute(CHARGE)?;
                Ok(())
            });
            written.await.expect("written");
        }
    };

    let mut group = criterion.benchmark_group("store/charge");
    group
        .throughput(Throughput::Elements(1))
        .sampling_mode(SamplingMode::Flat)
        .sample_size(30);
    group.bench_function("ours, 64 in flight", |b| {
        keep_in_flight(b, runtime, &[(); MANY], &lane);
    });
    group.bench_function("ours, one at a time", |b| {
        keep_in_flight(b, runtime, &[()], &lane);
    });
    let mut alone = by_hand(&directory.join("by-hand")).expect("a database");
    // until the log has its final size: a commit that extends the file takes several times as long
    for _ in 0..1000 {
        insert(&mut alone).expect("written");
    }
    group.bench_function("rusqlite, one a transaction", |b| {
        b.iter(|| insert(&mut alone).expect("written"));
    });
    group.finish();
}

/// The same file settings and the same statement, without group commit.
fn by_hand(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(TABLE)?;
    Ok(connection)
}

fn insert(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.prepare_cached(INSERT)?.execute(CHARGE)?;
    transaction.commit()
}

/// Refresh tokens, rotated as by the token endpoint: load, decide, commit.
struct Rotations {
    database: Database,
    client: RegisteredClient,
    policy: TokenPolicy,
    now: SystemTime,
    /// Makes every token unique.
    serial: AtomicU64,
}

impl Rotations {
    fn new(path: &Path) -> Self {
        let client = RegisteredClient::public("demo-native".parse().expect("a client"));
        Self {
            database: Database::open(path).expect("a database"),
            client: client.with_scopes("read:charges".parse().expect("scopes")),
            policy: TokenPolicy::default(),
            now: SystemTime::now(),
            serial: AtomicU64::new(0),
        }
    }

    fn fresh(&self) -> TokenHash {
        TokenHash::new(&self.serial.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// A family with its first refresh token.
    async fn begin(&self) -> TokenHash {
        let (code, token) = (self.code(), self.fresh());
        let request = authorization_code::Request {
            client: &self.client,
            redirect_uri: None,
            code_verifier: Some(VERIFIER),
            resources: &[],
            confirmation: None,
        };
        let decision = authorization_code::redeem(&code, &request, &self.policy, self.now);
        let authorization_code::RedemptionDecision::Redeem(plan) = decision else {
            unreachable!("a fresh code: {decision:?}")
        };
        let family = FamilyId::from_bytes(code.hash.as_bytes().first_chunk().copied().unwrap_or_default());
        let terms = plan.access.clone();
        let access = AccessTokenRecord::new(self.fresh(), code.hash.to_string(), Some(family), terms);
        let inserted = self.database.insert_code(code).await;
        assert_eq!(inserted.expect("stored"), Insertion::Inserted);
        let redeemed = self
            .database
            .redeem_code(plan.commit(family, access, Some(token)), self.now)
            .await;
        assert_eq!(redeemed.expect("stored"), RedeemOutcome::Redeemed);
        token
    }

    fn code(&self) -> AuthorizationCodeRecord {
        let verifier: CodeVerifier = VERIFIER.parse().expect("a verifier");
        let subject = "user-7".parse().expect("a subject");
        let grant = Grant::new(
            self.client.id.clone(),
            subject,
            self.client.scopes.clone(),
            self.now,
        );
        let redirect_uri = "https://app.example/callback".parse().expect("a redirect URI");
        AuthorizationCodeRecord::new(self.fresh(), redirect_uri, verifier.challenge(), grant, self.now)
    }

    async fn rotate(&self, presented: TokenHash) -> TokenHash {
        let state = self
            .database
            .refresh_token(&presented)
            .await
            .expect("an answer")
            .expect("a token");
        let request = refresh_token::Request {
            client: &self.client,
            scopes: None,
            resources: &[],
            confirmation: None,
        };
        let decision = refresh_token::rotate(&state, &request, &self.policy, self.now);
        let refresh_token::RotationDecision::Rotate(plan) = decision else {
            unreachable!("a live token: {decision:?}")
        };
        let (successor, access) = (self.fresh(), self.fresh());
        let terms = plan.access.clone();
        let access = AccessTokenRecord::new(access, access.to_string(), Some(plan.family), terms);
        let rotated = self
            .database
            .rotate(plan.commit(access, successor), self.now)
            .await;
        assert_eq!(rotated.expect("stored"), RotateOutcome::Rotated);
        successor
    }
}

fn rotations(criterion: &mut Criterion, runtime: &Runtime, directory: &Path) {
    let rotations = Rotations::new(&directory.join("rotations"));
    let begun: Vec<_> = (0..MANY)
        .map(|_| runtime.block_on(rotations.begin()))
        .map(Cell::new)
        .collect();
    let lane = async |live: &Cell<TokenHash>, writes: u64| {
        for _ in 0..writes {
            live.set(rotations.rotate(live.get()).await);
        }
    };
    let mut group = criterion.benchmark_group("store/rotation");
    group
        .throughput(Throughput::Elements(1))
        .sampling_mode(SamplingMode::Flat)
        .sample_size(30);
    group.bench_function("ours, 64 in flight", |b| {
        keep_in_flight(b, runtime, &begun, &lane);
    });
    let alone = begun.first().map(std::slice::from_ref).unwrap_or_default();
    group.bench_function("ours, one at a time", |b| {
        keep_in_flight(b, runtime, alone, &lane);
    });
    group.finish();
}

fn main() -> std::io::Result<()> {
    let mut criterion = benches::criterion();
    let runtime = benches::runtime()?;
    let directory = tempfile::tempdir()?;
    charges(&mut criterion, &runtime, directory.path());
    rotations(&mut criterion, &runtime, directory.path());
    criterion.final_summary();
    Ok(())
}
