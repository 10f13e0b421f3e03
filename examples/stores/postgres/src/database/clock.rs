//! The time of the database, which all machines share.

use std::time::{Duration, SystemTime};

use host_ports::{Clock, SystemClock};

use super::{Database, DatabaseError};
use crate::column::time;

/// A clock that runs with that of the database, as it was when the clock was made.
///
/// Machines whose own clocks disagree lease and retry at the same moments when each of them gives its dispatcher one of these.
/// It is as exact as half the way to the database and back; make a new one now and then, such as once an hour.
#[derive(Clone, Copy, Debug)]
pub struct DatabaseClock {
    ahead: Duration,
    behind: Duration,
}

impl DatabaseClock {
    /// Compares one reading of the database with the local time around it.
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
    /// The time by the database's clock.
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

    /// A clock that goes on with the database's time without asking it again.
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
