//! Keys that are completed in a transaction of the host (H23).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use host_store_postgres::{Database, DatabaseError, idempotency, sqlx};
use http_conventions::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, Fenced, Fingerprint, IdempotencyStore, Receipt, RecordKey,
    Settlement,
};
use http_conventions::ports::StoreError;
use http_conventions_conformance::completes_in_transaction::{End, TransactionalStore};

use crate::support::{execute, with_notes};

pub(crate) struct Notes(pub(crate) Database);

impl Notes {
    pub(crate) async fn write_row(
        &self,
        row: i64,
        settlement: Option<&Settlement>,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, DatabaseError> {
        let mut transaction = self.0.pool().begin().await?;
        let insert = sqlx::query("INSERT INTO note (id) VALUES ($1)").bind(row);
        insert.execute(&mut *transaction).await?;
        let receipt = match settlement {
            Some(settlement) => match idempotency::complete_in(&mut transaction, settlement).await? {
                Ok(receipt) => Some(receipt),
                Err(fenced) => return Ok(Err(fenced)),
            },
            None => None,
        };
        match end {
            End::Commit => transaction.commit().await?,
            End::RollBack => return Ok(Ok(None)),
        }
        Ok(Ok(receipt))
    }
}

#[async_trait]
impl TransactionalStore for Notes {
    fn keys(&self) -> Arc<dyn IdempotencyStore> {
        Arc::new(self.0.clone())
    }

    async fn write(
        &self,
        row: u32,
        settlement: Option<&Settlement>,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, StoreError> {
        Ok(self.write_row(i64::from(row), settlement, end).await?)
    }

    async fn rows(&self) -> Result<Vec<u32>, StoreError> {
        let rows: Vec<i64> = sqlx::query_scalar("SELECT id FROM note ORDER BY id")
            .fetch_all(self.0.pool())
            .await
            .unwrap();
        Ok(rows.into_iter().map(|row| u32::try_from(row).unwrap()).collect())
    }
}

http_conventions_conformance::completes_in_transaction!(
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    Notes(with_notes(crate::server::fresh!()).await)
);

/// H23: only the commit of a claim that may be lost does not wait for the disk, be the key free or
/// taken over. The setting ends with the transaction of the claim.
#[tokio::test]
async fn only_claim_without_durability_is_not_synced() {
    let database = crate::server::fresh!();
    for statement in [
        "CREATE TABLE commit_of_claim (position BIGINT GENERATED ALWAYS AS IDENTITY, setting TEXT NOT NULL)",
        "CREATE FUNCTION note_setting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             INSERT INTO commit_of_claim (setting) VALUES (current_setting('synchronous_commit'));
             RETURN NULL;
         END $$",
        // deferred: reads the setting of the commit
        "CREATE CONSTRAINT TRIGGER noted AFTER INSERT OR UPDATE ON idempotency_record
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_setting()",
    ] {
        execute(database.pool(), statement).await;
    }
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let lease = Duration::from_secs(60);
    let (free, taken_over) = (start, start + lease * 2);
    let claim = |key: u8, now: SystemTime| {
        let (key, request) = (RecordKey::from_bytes([key; 32]), Fingerprint::from_bytes([2; 32]));
        let claim = Claim::new(
            key,
            request,
            Fence::from_bytes([3; 16]),
            now + lease,
            now + lease * 9,
        );
        claim.with_after_crash(AfterCrash::RunAgain)
    };
    for (claim, now) in [
        (claim(1, free).without_durability(), free),
        (claim(2, free), free),
        (claim(1, taken_over).without_durability(), taken_over),
        (claim(2, taken_over), taken_over),
    ] {
        assert_eq!(database.claim(&claim, now).await.unwrap(), ClaimOutcome::Claimed);
    }
    let settings: Vec<String> = sqlx::query_scalar("SELECT setting FROM commit_of_claim ORDER BY position")
        .fetch_all(database.pool())
        .await
        .unwrap();
    assert_eq!(settings, ["off", "on", "off", "on"]);
}
