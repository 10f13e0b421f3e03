//! What the ports say when the file is not as they left it.

use std::time::{Duration, SystemTime};

use http_conventions::idempotency::{self, IdempotencyStore};
use oauth_core::store::{ClientStore, RegisteredClient, TokenStore};
use oauth_core::store_error;
use store_sqlite::rusqlite::Connection;
use store_sqlite::{Database, DatabaseError, DatabaseErrorKind};
use webhook_core::address::AddressPolicy;
use webhook_core::ports;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{Endpoint, EndpointStore, Outbox};
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
    assert_eq!(error.kind(), store_error::StoreErrorKind::Corrupt);

    let signer = Signer::standard_webhooks(&SigningSecret::from_bytes(&[7; 32]).unwrap());
    let url = "https://hooks.example.com/".parse().unwrap();
    let endpoint = Endpoint::register("ep_1".parse().unwrap(), &url, signer, &AddressPolicy::new()).unwrap();
    database.insert(endpoint).await.unwrap();
    for broken in [
        "UPDATE webhook_endpoint SET signers = '[]'",
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
    assert_eq!(error.kind(), idempotency::StoreErrorKind::Corrupt);
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
    assert_eq!(error.kind(), store_error::StoreErrorKind::Unavailable);
}

/// O10: the table itself refuses a second live leaf, whoever writes it.
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
    tamper(&database, "UPDATE oauth_refresh_token SET rotated_at = 0")
        .await
        .unwrap();
    tamper(&database, second).await.unwrap();
}
