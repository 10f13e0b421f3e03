//! Endpoints that are registered and rotated in a transaction of the host (H23).

use host_store_postgres::{Database, endpoints, sqlx};
use webhook_core::sender::{EndpointStore, Inserted, Rotated, Rotation};
use webhook_core::signature::Signers;

use crate::support::{START, count, endpoint, signer, with_notes};

/// Inserts a note, and registers the endpoint or rotates its secret if it exists.
async fn change(database: &Database, note: i64, commits: bool) {
    let secrets = database.secrets_at_rest();
    let mut transaction = database.pool().begin().await.unwrap();
    let insert = sqlx::query("INSERT INTO note (id) VALUES ($1)").bind(note);
    insert.execute(&mut *transaction).await.unwrap();
    let endpoint = endpoint("ep_1");
    let inserted = endpoints::insert_in(&mut transaction, &endpoint, secrets).await;
    if inserted.unwrap() == Inserted::AlreadyExists {
        let rotation = Rotation {
            next: signer(8),
            now: START,
            overlap: Signers::OVERLAP,
        };
        let rotated = endpoints::rotate_in(&mut transaction, &endpoint.id, &rotation, secrets).await;
        assert_eq!(rotated.unwrap(), Rotated::Rotated);
    }
    match commits {
        true => transaction.commit().await.unwrap(),
        false => transaction.rollback().await.unwrap(),
    }
}

/// H23: an endpoint and its secrets change if and only if the transaction of the host commits.
#[tokio::test]
async fn endpoint_changes_with_rows_of_the_host() {
    let database = with_notes(crate::server::fresh!()).await;
    let secrets = async || {
        let loaded = database.load(&endpoint("ep_1").id).await.unwrap();
        loaded.map(|endpoint| endpoint.signers.iter().count())
    };
    for (note, before, after) in [(1, None, Some(1)), (2, Some(1), Some(2))] {
        change(&database, note, false).await;
        assert_eq!(secrets().await, before);
        change(&database, note, true).await;
        assert_eq!(secrets().await, after);
    }
    assert_eq!(count(&database, "note").await, 2);
}
