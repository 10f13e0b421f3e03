//! Errors of the ports when the file was changed behind their back.

use std::error::Error;
use std::iter::successors;
use std::time::{Duration, SystemTime};

use host_store_sqlite::rusqlite::Connection;
use host_store_sqlite::{Database, DatabaseError, DatabaseErrorKind};
use http_conventions::idempotency::{self, IdempotencyStore};
use oauth_core::store::{ClientStore, RegisteredClient, TokenStore};
use webhook_core::address::AddressPolicy;
use webhook_core::ports;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    Bulkheads, DeliveryFilter, Endpoint, EndpointStore, FailureReason, LeaseRequest, Leases, Outbox, Owner,
    Page, SetAside,
};
use webhook_core::signature::Signer;

use crate::support::{File, event, with_notes};

async fn tamper(database: &Database, statement: &'static str) -> Result<(), DatabaseError> {
    database
        .write(move |transaction| Ok(transaction.execute_batch(statement)?))
        .await
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_reported_as_corrupt() {
    let database = Database::open_in_memory().unwrap();

    database
        .put_client(RegisteredClient::public("app".parse().unwrap()))
        .await
        .unwrap();
    tamper(&database, "UPDATE oauth_client SET record = '{}'")
        .await
        .unwrap();
    let error = database.client(&"app".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ports::StoreErrorKind::Corrupt);

    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32]).unwrap());
    let url = "https://hooks.example.com/".parse().unwrap();
    let endpoint = Endpoint::register(
        "ep_1".parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer,
        &AddressPolicy::new(),
    )
    .unwrap();
    database.insert(endpoint).await.unwrap();
    for broken in [
        r#"UPDATE webhook_endpoint SET secrets = '{"signers":[]}'"#,
        "UPDATE webhook_endpoint SET state = 'other'",
    ] {
        tamper(&database, broken).await.unwrap();
        let error = database.load(&"ep_1".parse().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), ports::StoreErrorKind::Corrupt, "{broken}");
    }

    let (key, fence) = (
        idempotency::RecordKey::from_bytes([1; 32]),
        idempotency::Fence::from_bytes([2; 16]),
    );
    let (now, fingerprint) = (
        SystemTime::UNIX_EPOCH,
        idempotency::Fingerprint::from_bytes([3; 32]),
    );
    let claim = idempotency::Claim::new(key, fingerprint, fence, now, now + Duration::from_secs(60));
    database.claim(&claim, now).await.unwrap();
    tamper(&database, "UPDATE idempotency_record SET state = '\"Unknown\"'")
        .await
        .unwrap();
    let error = database.claim(&claim, now).await.unwrap_err();
    assert_eq!(error.kind(), ports::StoreErrorKind::Corrupt);
}

/// Text and details of an error with all its causes, as a log would show them.
fn told(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |&cause| cause.source());
    causes.map(|cause| format!("{cause}; {cause:?}\n")).collect()
}

/// An unreadable row may hold a secret or an address: the error shows its place and not its value.
#[tokio::test]
async fn errors_show_no_stored_value() {
    let database = Database::open_in_memory().unwrap();
    let (app, ep_1) = ("app".parse().unwrap(), "ep_1".parse().unwrap());
    let client = RegisteredClient::public("app".parse().unwrap());
    database.put_client(client).await.unwrap();
    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32]).unwrap());
    let url = "https://hooks.example.com/".parse().unwrap();
    let endpoint = Endpoint::register(
        "ep_1".parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer,
        &AddressPolicy::new(),
    )
    .unwrap();
    database.insert(endpoint).await.unwrap();
    let mut errors = Vec::new();
    for broken in [
        r#"UPDATE oauth_client SET record = '"grace@example.com"'"#,
        r#"UPDATE oauth_client SET record = '{"grace@example.com":1}'"#,
        "UPDATE oauth_client SET record = 'grace@example.com'",
        "UPDATE oauth_client SET record = CAST(CAST('grace@example.com' AS BLOB) || x'ff' AS TEXT)",
    ] {
        tamper(&database, broken).await.unwrap();
        errors.push(told(&database.client(&app).await.unwrap_err()));
    }
    for broken in [
        "UPDATE webhook_endpoint SET state = 'grace@example.com'",
        "UPDATE webhook_endpoint SET url = 'grace@example.com', state = 'enabled'",
        "UPDATE webhook_endpoint SET url = 'https://hooks.example.com/', secrets = 'grace@example.com'",
        r#"UPDATE webhook_endpoint SET secrets = '["grace@example.com"]'"#,
    ] {
        tamper(&database, broken).await.unwrap();
        errors.push(told(&database.load(&ep_1).await.unwrap_err()));
    }
    for error in errors {
        assert!(error.contains("a stored value cannot be read"), "{error}");
        for shown in ["grace", "example.com", "103, 114, 97"] {
            assert!(!error.contains(shown), "{error}");
        }
    }
}

async fn lease(database: &Database) -> Leases {
    let now = SystemTime::UNIX_EPOCH;
    let request = LeaseRequest {
        now,
        until: now + Duration::from_secs(40),
        limit: 10,
        owner: None,
        bulkheads: Bulkheads::OPEN,
        per_endpoint: 10,
        suspects: 10,
        quarantine_after: 5,
    };
    database.lease(&request).await.unwrap()
}

/// W15: a due row that is unreadable, or whose event is, is set aside, reported and listed, and
/// stops no other delivery.
#[tokio::test]
async fn unreadable_row_stops_no_other() {
    for broken in [
        "UPDATE webhook_delivery SET attempts = -1 WHERE event = 'evt_1'",
        "UPDATE webhook_delivery SET reason = 'other' WHERE event = 'evt_1'",
        "UPDATE webhook_event SET event_type = '' WHERE id = 'evt_1'",
        "UPDATE webhook_delivery SET fence = -1, attempts = 1 << 40 WHERE event = 'evt_1'",
    ] {
        let database = Database::open_in_memory().unwrap();
        for number in 1..=3 {
            database.enqueue(event(number)).await.unwrap();
        }
        tamper(&database, broken).await.unwrap();
        let Leases { leased, set_aside } = lease(&database).await;
        assert_eq!(leased.len(), 2, "{broken}");
        let id = event(1).deliveries[0].id.clone();
        let reason = FailureReason::Unreadable;
        let expected = SetAside {
            delivery: id.clone(),
            reason,
        };
        assert_eq!(set_aside, [expected], "{broken}");
        assert_eq!(lease(&database).await, Leases::default());
        let dead = database
            .list(&DeliveryFilter::dead_letters(), &Page::default())
            .await;
        let [dead] = dead.unwrap().try_into().unwrap();
        assert_eq!((dead.id, dead.reason), (id, Some(reason)));
    }
}

/// W15, H31: an event whose stored trace is unreadable, also if it is no UTF-8, is sent without it.
#[tokio::test]
async fn unreadable_trace_costs_no_event() {
    for broken in ["'x'", "CAST(x'ff' AS TEXT)", "''"] {
        let database = Database::open_in_memory().unwrap();
        let mut given = event(1);
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        given.event.trace = Some(trace.parse().unwrap());
        database.enqueue(given.clone()).await.unwrap();
        let statement = format!("UPDATE webhook_event SET trace = {broken}");
        let changed = database.write(move |transaction| -> Result<usize, DatabaseError> {
            Ok(transaction.execute(&statement, ())?)
        });
        assert_eq!(changed.await.unwrap(), 1);
        let Leases { leased, set_aside } = lease(&database).await;
        assert_eq!((leased.len(), set_aside), (1, Vec::new()), "{broken}");
        assert_eq!(leased[0].event, given.event.in_trace(None), "{broken}");
    }
}

/// W15: a row with an unreadable id stops no other delivery; only the list reports it.
#[tokio::test]
async fn row_without_readable_id_stops_no_other() {
    let database = Database::open_in_memory().unwrap();
    for number in 1..=2 {
        database.enqueue(event(number)).await.unwrap();
    }
    let broken = "INSERT INTO webhook_event (id, event_type, audience, created_at, body)
                      SELECT 'no id', event_type, audience, created_at, body FROM webhook_event LIMIT 1;
                  UPDATE webhook_delivery SET event = 'no id' WHERE event = 'evt_1'";
    tamper(&database, broken).await.unwrap();
    let Leases { leased, set_aside } = lease(&database).await;
    assert_eq!((leased.len(), set_aside), (1, Vec::new()));
    assert_eq!(lease(&database).await, Leases::default());
    let listed = database.list(&DeliveryFilter::failed(), &Page::default()).await;
    assert_eq!(listed.unwrap_err().kind(), ports::StoreErrorKind::Corrupt);
}

#[tokio::test]
async fn a_locked_file_is_reported_as_unavailable() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    tamper(&database, "PRAGMA busy_timeout = 0").await.unwrap();
    let other = Connection::open(file.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let error = database.enqueue(event(1)).await.unwrap_err();
    assert_eq!(error.kind(), ports::StoreErrorKind::Unavailable);
    let error = database.purge_tokens(SystemTime::UNIX_EPOCH).await.unwrap_err();
    assert_eq!(error.kind(), ports::StoreErrorKind::Unavailable);
}

/// O10: the table itself refuses a second live leaf.
#[tokio::test]
async fn a_family_with_two_leaves_cannot_be_stored() {
    let database = Database::open_in_memory().unwrap();
    let family = "INSERT INTO oauth_family (id, expires_at, retain_until, record) VALUES (x'01', 0, 0, '{}')";
    let leaf =
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, record) VALUES (x'02', x'01', 0, '{}')";
    let second =
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, record) VALUES (x'03', x'01', 0, '{}')";
    tamper(&database, family).await.unwrap();
    tamper(&database, leaf).await.unwrap();
    assert_eq!(
        tamper(&database, second).await.unwrap_err().kind(),
        DatabaseErrorKind::Failed
    );
    // a token has a successor, or it is the leaf
    let half = tamper(&database, "UPDATE oauth_refresh_token SET rotated_at = 0").await;
    assert_eq!(half.unwrap_err().kind(), DatabaseErrorKind::Failed);
    let rotation = "UPDATE oauth_refresh_token SET rotated_at = 0, successor = x'03', access_token = x'04'";
    tamper(&database, rotation).await.unwrap();
    tamper(&database, second).await.unwrap();
}
