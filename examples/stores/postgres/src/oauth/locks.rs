//! Locked subjects (O45), in `oauth_locked_subject`.

use async_trait::async_trait;
use oauth_core::ports::StoreError;
use oauth_core::store::{SubjectLocks, SubjectStatus};
use oauth_core::vocabulary::Subject;

use crate::database::{Database, DatabaseError};

#[async_trait]
impl SubjectStatus for Database {
    async fn is_locked(&self, subject: &Subject) -> Result<bool, StoreError> {
        let subject = subject.clone();
        let locked = self.run(|pool| async move {
            let statement = "SELECT EXISTS (SELECT FROM oauth_locked_subject WHERE subject = $1)";
            let locked = sqlx::query_scalar(statement).bind(subject.as_str());
            Ok::<bool, DatabaseError>(locked.fetch_one(&pool).await?)
        });
        Ok(locked.await?)
    }
}

#[async_trait]
impl SubjectLocks for Database {
    async fn lock_subject(&self, subject: &Subject) -> Result<(), StoreError> {
        let statement = "INSERT INTO oauth_locked_subject (subject) VALUES ($1) ON CONFLICT DO NOTHING";
        Ok(change(self, statement, subject).await?)
    }

    async fn unlock_subject(&self, subject: &Subject) -> Result<(), StoreError> {
        let statement = "DELETE FROM oauth_locked_subject WHERE subject = $1";
        Ok(change(self, statement, subject).await?)
    }
}

async fn change(
    database: &Database,
    statement: &'static str,
    subject: &Subject,
) -> Result<(), DatabaseError> {
    let subject = subject.clone();
    let changed = database.run(move |pool| async move {
        sqlx::query(statement)
            .bind(subject.as_str())
            .execute(&pool)
            .await?;
        Ok::<(), DatabaseError>(())
    });
    changed.await
}
