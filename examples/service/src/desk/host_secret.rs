//! Secrets that survive a restart: the signing key, and the keys of cursors and DPoP nonces.

use host_store_sqlite::rusqlite::{OptionalExtension, params};

use super::{Desk, DeskError};

impl Desk {
    /// Reads the secret with this name; on first use, creates it with `make`.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub async fn host_secret(
        &self,
        name: &'static str,
        make: impl FnOnce() -> Vec<u8> + Send + 'static,
    ) -> Result<Vec<u8>, DeskError> {
        self.database
            .write(move |transaction| {
                let mut query =
                    transaction.prepare_cached("SELECT value FROM host_secret WHERE name = ?1")?;
                if let Some(value) = query.query_row([name], |row| row.get(0)).optional()? {
                    return Ok(value);
                }
                let value = make();
                transaction.execute(
                    "INSERT INTO host_secret (name, value) VALUES (?1, ?2)",
                    params![name, value],
                )?;
                Ok(value)
            })
            .await
    }
}
