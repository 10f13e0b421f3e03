//! What has ended goes, and nothing else does.

use std::time::Duration;

use store_postgres::sqlx;
use webhook_core::receiver::{Claim, Dedupe};

use crate::server::fresh;
use crate::support::{START, count, incoming};

/// W7: a claim goes at its exact end, however many there are; the queue of received events stays.
#[tokio::test]
async fn what_has_ended_is_purged_and_nothing_else() {
    let database = fresh!();
    let soon = START + Duration::from_secs(60);
    for (number, expires_at) in [(1, soon), (2, soon + Duration::from_nanos(1))] {
        let claimed = database
            .claim_and_enqueue(incoming(number, expires_at), START)
            .await
            .unwrap();
        assert_eq!(claimed, Claim::Enqueued);
    }
    sqlx::query(
        "INSERT INTO webhook_claim (source, event, digest, expires_at)
         SELECT 'peer', 'old_' || n, '', 0 FROM generate_series(1, 1200) AS n",
    )
    .execute(database.pool())
    .await
    .unwrap();

    assert_eq!(database.purge(soon).await.unwrap(), 1_201);
    assert_eq!(count(&database, "webhook_claim").await, 1);
    assert_eq!(count(&database, "webhook_received").await, 2);
    assert_eq!(database.purge(soon).await.unwrap(), 0);
}
