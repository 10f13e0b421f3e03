//! Signing secrets that a copy of the file does not reveal.

use std::time::SystemTime;

use host_store_sqlite::{Database, DatabaseError, outbox};
use webhook_core::address::AddressPolicy;
use webhook_core::ports::StoreErrorKind;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{Audience, Endpoint, EndpointStore, Enqueued, Owner, Rotation, SecretsAtRest};
use webhook_core::signature::{Signer, Signers};

use crate::aes_256_gcm::Aes256Gcm;
use crate::support;

mod aes_256_gcm {
    webhook_core_conformance::sealer!(
        #[tokio::test]
        crate::aes_256_gcm::Aes256Gcm::new(&[7; 32])
    );
}

mod endpoints {
    webhook_core_conformance::endpoint_store!(
        #[tokio::test]
        super::sealed(host_store_sqlite::Database::open_in_memory().unwrap(), 7)
    );
    webhook_core_conformance::endpoint_management!(
        #[tokio::test]
        super::sealed(host_store_sqlite::Database::open_in_memory().unwrap(), 7)
    );
}

fn sealed(database: Database, key: u8) -> Database {
    let sealer = Aes256Gcm::new(&[key; 32]);
    database.with_secrets_at_rest(SecretsAtRest::with_sealer(sealer).reject_plaintext())
}

fn signer(secret: u8) -> Signer {
    Signer::standard_webhooks(&SigningSecret::from_bytes(&[secret; 32]).unwrap())
}

fn endpoint() -> Endpoint {
    let url = "https://hooks.example.com/".parse().unwrap();
    Endpoint::register(
        "ep_1".parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        signer(1),
        &AddressPolicy::new(),
    )
    .unwrap()
}

async fn stored(database: &Database) -> String {
    let read = database.read(|connection| -> Result<String, DatabaseError> {
        Ok(connection.query_row("SELECT secrets FROM webhook_endpoint", (), |row| row.get(0))?)
    });
    read.await.unwrap()
}

/// W16: the file has neither a new secret nor a rotated one in clear; without the key none is
/// readable.
#[tokio::test]
async fn file_has_no_clear_secret() {
    let file = support::File::new();
    let database = sealed(file.open(), 7);
    database.insert(endpoint()).await.unwrap();
    assert!(stored(&database).await.starts_with("sealed:"));
    let rotation = Rotation {
        next: signer(2),
        now: SystemTime::UNIX_EPOCH,
        overlap: Signers::OVERLAP,
    };
    database
        .rotate(&"ep_1".parse().unwrap(), &rotation)
        .await
        .unwrap();
    assert!(stored(&database).await.starts_with("sealed:"));

    for other in [file.open(), sealed(file.open(), 8)] {
        let refused = other.load(&"ep_1".parse().unwrap()).await.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::Corrupt);
    }
    drop(database);
    for file in std::fs::read_dir(file.path().parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"whsec_"));
    }
}

/// W16: a secret in clear is readable until it is refused, and the next secret rotation seals it.
#[tokio::test]
async fn rotation_seals_clear_secret() {
    let clear = Database::open_in_memory().unwrap();
    clear.insert(endpoint()).await.unwrap();
    let id = "ep_1".parse().unwrap();
    let refused = sealed(clear.clone(), 7).load(&id).await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Corrupt);
    let lenient = SecretsAtRest::with_sealer(Aes256Gcm::new(&[7; 32]));
    let database = clear.with_secrets_at_rest(lenient);
    assert!(database.load(&id).await.unwrap().is_some());
    let rotation = Rotation {
        next: signer(2),
        now: SystemTime::UNIX_EPOCH,
        overlap: Signers::OVERLAP,
    };
    database.rotate(&id, &rotation).await.unwrap();
    assert!(sealed(database, 7).load(&id).await.unwrap().is_some());
}

/// W16: all secrets in clear or under an older key are sealed at once, over any number of pages:
/// the secrets do not change, and after a `VACUUM` the file has none in clear.
#[tokio::test]
async fn seals_all_clear_secrets() {
    let file = support::File::new();
    let clear = file.open();
    let id = |number: u8| format!("ep_{number:03}").parse().unwrap();
    for number in 1..=130 {
        let url = "https://hooks.example.com/".parse().unwrap();
        let endpoint = Endpoint::register(
            id(number),
            Owner::Tenant("acme".parse().unwrap()),
            &url,
            signer(number),
            &AddressPolicy::new(),
        );
        clear.insert(endpoint.unwrap()).await.unwrap();
    }
    let lenient = SecretsAtRest::with_sealer(Aes256Gcm::new(&[7; 32]));
    let database = clear.with_secrets_at_rest(lenient);
    for _ in 0..2 {
        assert_eq!(database.seal_secrets().await.unwrap(), 130);
    }
    let strict = sealed(database, 7);
    for number in 1..=130 {
        let endpoint = strict.load(&id(number)).await.unwrap().unwrap();
        let secrets: Vec<_> = endpoint
            .signers
            .iter()
            .map(|active| active.signer.expose_text())
            .collect();
        assert_eq!(secrets, [signer(number).expose_text()]);
    }
    assert!(
        sealed(file.open(), 8).seal_secrets().await.is_err(),
        "there is no other key"
    );
    drop(strict);
    let connection = rusqlite::Connection::open(file.path()).unwrap();
    connection.execute_batch("VACUUM").unwrap();
    drop(connection);
    for file in std::fs::read_dir(file.path().parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"whsec_"));
    }
}

/// W15, W16: an event is enqueued for each subscriber, in the caller's transaction or not, without
/// the key and despite unreadable columns.
#[tokio::test]
async fn sends_event_without_key() {
    let keyed = sealed(Database::open_in_memory().unwrap(), 7);
    keyed.insert(endpoint()).await.unwrap();
    let database = sealed(keyed, 8);
    database
        .write(|transaction| -> Result<_, DatabaseError> {
            let broken = "UPDATE webhook_endpoint SET url = 'no url', events = 'no types'";
            Ok(transaction.execute(broken, ())?)
        })
        .await
        .unwrap();
    let unreadable = database.load(&"ep_1".parse().unwrap()).await.unwrap_err();
    assert_eq!(unreadable.kind(), StoreErrorKind::Corrupt);
    let event_type = support::event(1).event.event_type;
    let subscribers = database
        .subscribers(&event_type, &Audience::everyone())
        .await
        .unwrap();
    assert_eq!(subscribers, ["ep_1".parse().unwrap()]);
    let event = support::event(1).event;
    let sent = database.write(move |transaction| outbox::send_in(transaction, event, SystemTime::UNIX_EPOCH));
    assert_eq!(sent.await.unwrap(), Enqueued::Enqueued);
}
