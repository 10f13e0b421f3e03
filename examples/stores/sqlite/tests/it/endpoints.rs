//! Endpoints that are registered and rotated in a transaction of the host (H23).

use std::time::SystemTime;

use host_store_sqlite::{Database, DatabaseError, endpoints};
use webhook_core::address::AddressPolicy;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{Endpoint, EndpointStore, Inserted, Owner, Rotated, Rotation};
use webhook_core::signature::{Signer, Signers};

use crate::support::{notes, with_notes};

fn signer(secret: u8) -> Signer {
    Signer::standard_webhooks(&SigningSecret::from_bytes(&[secret; 32]).unwrap())
}

fn endpoint() -> Endpoint {
    let url = "https://hooks.example.com/".parse().unwrap();
    let (id, owner) = ("ep_1".parse().unwrap(), Owner::Tenant("acme".parse().unwrap()));
    Endpoint::register(id, owner, &url, signer(1), &AddressPolicy::new()).unwrap()
}

/// Inserts a note, and registers the endpoint or rotates its secret if it exists.
async fn change(database: &Database, note: i64, commits: bool) -> Result<(), DatabaseError> {
    let secrets = database.secrets_at_rest().clone();
    let changed = database.write(move |transaction| {
        transaction.execute("INSERT INTO note (id) VALUES (?1)", [note])?;
        if endpoints::insert_in(transaction, &endpoint(), &secrets)? == Inserted::AlreadyExists {
            let rotation = Rotation {
                next: signer(2),
                now: SystemTime::UNIX_EPOCH,
                overlap: Signers::OVERLAP,
            };
            let rotated = endpoints::rotate_in(transaction, &endpoint().id, &rotation, &secrets)?;
            assert_eq!(rotated, Rotated::Rotated);
        }
        if !commits {
            // refused, so the transaction rolls back
            transaction.execute("INSERT INTO note (id) VALUES (?1)", [note])?;
        }
        Ok(())
    });
    changed.await
}

/// H23: an endpoint and its secrets change if and only if the transaction of the host commits.
#[tokio::test]
async fn endpoint_changes_with_rows_of_the_host() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let secrets = async || {
        let loaded = database.load(&endpoint().id).await.unwrap();
        loaded.map(|endpoint| endpoint.signers.iter().count())
    };
    for (note, before, after) in [(1, None, Some(1)), (2, Some(1), Some(2))] {
        assert!(change(&database, note, false).await.is_err());
        assert_eq!(secrets().await, before);
        change(&database, note, true).await.unwrap();
        assert_eq!(secrets().await, after);
    }
    assert_eq!(notes(&database).await, [1, 2]);
}
