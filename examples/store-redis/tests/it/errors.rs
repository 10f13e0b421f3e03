//! What the ports say when the server is not there, or not as they left it.

use store_redis::{Database, DatabaseErrorKind};
use webhook_core::ports::StoreErrorKind;
use webhook_core::receiver::{Claim, Dedupe, Finish, Inbox, LatestSeen, Position, ResourceKey};

use crate::server::{Wire, prefix};
use crate::support::{LEASE, START, incoming};

#[tokio::test]
async fn a_server_that_is_not_there_is_reported_as_unavailable() {
    let error = Database::connect("redis://127.0.0.1:1", "x").await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Unavailable);
    let error = Database::connect("http://127.0.0.1", "x").await.unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Failed);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_made_anew() {
    let prefix = prefix!();
    let wire = Wire::laid().await;
    let database = prefix.database_at(&wire.url()).await;
    database
        .claim_and_enqueue(incoming(0, START + LEASE), START)
        .await
        .unwrap();
    wire.cut();
    // the verb that finds it broken says so, and may be repeated; each of the others has the new one
    let mut claimed = database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await;
    if let Err(error) = &claimed {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        claimed = database
            .claim_and_enqueue(incoming(1, START + LEASE), START)
            .await;
    }
    assert_eq!(claimed.unwrap(), Claim::Enqueued);
}

/// W7: a claim that cannot be read is neither a duplicate nor overwritten.
#[tokio::test]
async fn a_claim_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    for broken in [&["SET", "short"][..], &["RPUSH", "another type"]] {
        let () = prefix.raw(broken[0], "claim:4:peer:evt_1", &broken[1..]);
        for _ in 0..2 {
            let error = database
                .claim_and_enqueue(incoming(1, START + LEASE), START)
                .await
                .unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken:?}");
        }
        let () = prefix.raw("DEL", "claim:4:peer:evt_1", &[]);
    }
    assert_eq!(database.take(1, START, LEASE).await.unwrap(), []);
}

#[tokio::test]
async fn an_arrival_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await
        .unwrap();
    let taken = database.take(1, START, LEASE).await.unwrap();

    let () = prefix.raw("HSET", "leases", &["1", "no lease"]);
    let error = database.finish(&taken[0].ticket).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    let error = database.take(1, START + LEASE, LEASE).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    let () = prefix.raw("DEL", "leases", &[]);
    let () = prefix.raw("HSET", "names", &["1", "no name"]);
    let error = database.take(1, START + LEASE, LEASE).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert_eq!(database.finish(&taken[0].ticket).await.unwrap(), Finish::Stale);
    let () = prefix.raw("DEL", "bodies", &[]);
    let error = database.take(1, START + LEASE * 3, LEASE).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
}

#[tokio::test]
async fn a_position_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let charge = ResourceKey {
        source: "peer".to_owned(),
        resource: "ch_1".to_owned(),
    };
    for broken in ["7", "-0000000000000000007", ""] {
        let () = prefix.raw("SET", "latest:4:peer:ch_1", &[broken]);
        let error = database.advance(&charge, Position::from(9)).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken}");
    }
}
