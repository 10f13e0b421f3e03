//! Signing secrets that a dump of the database does not give away.

use std::sync::Arc;

use store_postgres::{Database, outbox, sqlx};
use webhook_core::ports::StoreErrorKind;
use webhook_core::sender::{EndpointStore, Enqueued, SignersAtRest};

use crate::aes_256_gcm::Aes256Gcm;
use crate::server::fresh;
use crate::support::{START, deliveries, endpoint, event};

mod endpoints {
    webhook_core::testing::endpoint_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        super::sealed(crate::server::fresh!(), 7)
    );
}

fn sealed(database: Database, key: u8) -> Database {
    let sealer = Arc::new(Aes256Gcm::new(&[key; 32]));
    database.with_signers_at_rest(SignersAtRest::sealed(sealer).refusing_clear())
}

/// W16: no secret stands in the table, a row that somebody writes in clear or copies to another endpoint is refused, and to
/// send an event takes no key.
#[tokio::test]
async fn no_secret_stands_in_the_database() {
    let clear = fresh!();
    let database = sealed(clear.clone(), 7);
    database.insert(endpoint("ep_1")).await.unwrap();
    database.insert(endpoint("ep_2")).await.unwrap();
    let signers: Vec<String> = sqlx::query_scalar("SELECT signers FROM webhook_endpoint")
        .fetch_all(database.pool())
        .await
        .unwrap();
    assert!(signers.iter().all(|text| text.starts_with("sealed:")));

    let mut transaction = clear.pool().begin().await.unwrap();
    let sent = outbox::send_in(&mut transaction, event(1, &[]).event, START).await;
    assert_eq!(sent.unwrap(), Enqueued::Enqueued);
    transaction.commit().await.unwrap();
    assert_eq!(deliveries(&database).await.len(), 2);

    let id = "ep_1".parse().unwrap();
    clear.insert(endpoint("ep_3")).await.unwrap();
    for forged in ["ep_2", "ep_3"] {
        sqlx::query(
            "UPDATE webhook_endpoint SET signers = (SELECT signers FROM webhook_endpoint WHERE id = $1) WHERE id = 'ep_1'",
        )
        .bind(forged)
        .execute(database.pool())
        .await
        .unwrap();
        let refused = database.load(&id).await.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::Corrupt, "{forged}");
    }
    assert!(sealed(clear, 8).load(&"ep_2".parse().unwrap()).await.is_err());
}
