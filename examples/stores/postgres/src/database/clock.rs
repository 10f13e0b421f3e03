//! The clock of the database server, shared by all machines.

use std::time::{Duration, SystemTime};

use host_ports::{Clock, SystemClock};

use super::{Database, DatabaseError};
use crate::column::time;

/// Clock of this machine, corrected by its difference from the clock of the database server. The
/// difference is measured once.
///
/// Give each dispatcher such a clock if the clocks of the machines differ: all then agree on the
/// deliveries that are due. The error is at most half a round trip to the server. Create a new
/// clock periodically, for example once an hour.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseClock {
    ahead: Duration,
    behind: Duration,
}

impl DatabaseClock {
    /// Computes the difference between a reading of the server and the local time.
    fn compare(local: SystemTime, database: SystemTime) -> Self {
        Self {
            ahead: database.duration_since(local).unwrap_or_default(),
            behind: local.duration_since(database).unwrap_or_default(),
        }
    }

    fn correct(self, local: SystemTime) -> SystemTime {
        local
            .checked_add(self.ahead)
            .and_then(|time| time.checked_sub(self.behind))
            .unwrap_or(local)
    }
}

impl Clock for DatabaseClock {
    fn now(&self) -> SystemTime {
        self.correct(SystemClock.now())
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic()
    }
}

impl Database {
    /// Returns the time of the server, with one query.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`].
    pub async fn now(&self) -> Result<SystemTime, DatabaseError> {
        self.run(|pool| async move {
            let now =
                sqlx::query_scalar("SELECT (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint");
            time(now.fetch_one(&pool).await?)
        })
        .await
    }

    /// Creates a clock that follows the server's time without further queries.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`].
    pub async fn clock(&self) -> Result<DatabaseClock, DatabaseError> {
        let before = SystemTime::now();
        let database = self.now().await?;
        let way = before.elapsed().unwrap_or_default() / 2;
        Ok(DatabaseClock::compare(before + way, database))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_clock_is_set_forward_or_back() {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let minute = Duration::from_secs(60);
        for database in [noon, noon + minute, noon - minute] {
            let clock = DatabaseClock::compare(noon, database);
            assert_eq!(clock.correct(noon), database);
            assert_eq!(clock.correct(noon + minute), database + minute);
        }
    }
}
