//! Signing secrets that a dump of the database does not reveal.

use host_store_postgres::{Database, outbox, sqlx};
use webhook_core::ports::StoreErrorKind;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{Audience, EndpointStore, Enqueued, Rotated, Rotation, SecretsAtRest};
use webhook_core::signature::{Signer, Signers};

use crate::aes_256_gcm::Aes256Gcm;
use crate::server::fresh;
use crate::support::{START, deliveries, endpoint, event};

mod endpoints {
    webhook_core_conformance::endpoint_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        super::sealed(crate::server::fresh!(), 7)
    );
    webhook_core_conformance::endpoint_management!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        super::sealed(crate::server::fresh!(), 7)
    );
}

fn sealed(database: Database, key: u8) -> Database {
    let sealer = Aes256Gcm::new(&[key; 32]);
    database.with_secrets_at_rest(SecretsAtRest::with_sealer(sealer).reject_plaintext())
}

/// W16: the table has no secret in clear; a row written in clear or copied to another endpoint is
/// refused, and sending an event needs no key.
#[tokio::test]
async fn database_has_no_clear_secret() {
    let clear = fresh!();
    let database = sealed(clear.clone(), 7);
    database.insert(endpoint("ep_1")).await.unwrap();
    database.insert(endpoint("ep_2")).await.unwrap();
    let secrets: Vec<String> = sqlx::query_scalar("SELECT secrets FROM webhook_endpoint")
        .fetch_all(database.pool())
        .await
        .unwrap();
    assert!(secrets.iter().all(|text| text.starts_with("sealed:")));

    let mut transaction = clear.pool().begin().await.unwrap();
    let sent = outbox::send_in(&mut transaction, event(1, &[]).event, START).await;
    assert_eq!(sent.unwrap(), Enqueued::Enqueued);
    transaction.commit().await.unwrap();
    assert_eq!(deliveries(&database).await.len(), 2);

    let id = "ep_1".parse().unwrap();
    clear.insert(endpoint("ep_3")).await.unwrap();
    for forged in ["ep_2", "ep_3"] {
        sqlx::query(
            "UPDATE webhook_endpoint SET secrets = (SELECT secrets FROM webhook_endpoint WHERE id = $1) WHERE id = 'ep_1'",
        )
        .bind(forged)
        .execute(database.pool())
        .await
        .unwrap();
        let refused = database.load(&id).await.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::Corrupt, "{forged}");
    }
    let other_key = sealed(clear, 8).load(&"ep_2".parse().unwrap()).await.unwrap_err();
    assert_eq!(other_key.kind(), StoreErrorKind::Corrupt);
}

/// W15, W16: an event is enqueued for each subscriber, without the key and despite unreadable
/// columns.
#[tokio::test]
async fn an_endpoint_that_cannot_be_read_stops_no_event() {
    let clear = fresh!();
    sealed(clear.clone(), 7).insert(endpoint("ep_1")).await.unwrap();
    let database = sealed(clear, 8);
    sqlx::query("UPDATE webhook_endpoint SET url = 'no url'")
        .execute(database.pool())
        .await
        .unwrap();
    let unreadable = database.load(&"ep_1".parse().unwrap()).await.unwrap_err();
    assert_eq!(unreadable.kind(), StoreErrorKind::Corrupt);
    let subscribers = database
        .subscribers(&event(1, &[]).event.event_type, &Audience::everyone())
        .await;
    assert_eq!(subscribers.unwrap(), ["ep_1".parse().unwrap()]);
}

/// W16: clear secrets of all endpoints are sealed at once, over any number of pages, and a
/// concurrent secret rotation is not lost.
#[tokio::test]
async fn seals_all_clear_secrets() {
    let clear = fresh!();
    for number in 1..=130 {
        clear.insert(endpoint(&format!("ep_{number:03}"))).await.unwrap();
    }
    let lenient = SecretsAtRest::with_sealer(Aes256Gcm::new(&[7; 32]));
    let database = clear.with_secrets_at_rest(lenient);
    let last = "ep_130".parse().unwrap();
    let next = Signer::standard_webhooks(&SigningSecret::from_bytes(&[9; 32]).unwrap());
    let rotation = Rotation {
        next: next.clone(),
        now: START,
        overlap: Signers::OVERLAP,
    };
    let (count, rotated) = tokio::join!(database.seal_secrets(), database.rotate(&last, &rotation));
    assert_eq!((count.unwrap(), rotated.unwrap()), (130, Rotated::Rotated));
    let strict = sealed(database, 7);
    for number in 1..=130 {
        let id = format!("ep_{number:03}").parse().unwrap();
        assert!(strict.load(&id).await.unwrap().is_some());
    }
    let signers = strict.load(&last).await.unwrap().unwrap().signers;
    let newest = signers.iter().next().unwrap().signer.expose_text();
    assert_eq!(newest, next.expose_text());
}
