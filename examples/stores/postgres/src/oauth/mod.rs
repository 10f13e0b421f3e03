//! The stores of `oauth_core`: attempts, clients, consents, interactions, locks, logouts, replays,
//! sessions, codes and tokens.
//!
//! # Lock order
//!
//! An operation that waits for a row holds only rows that come earlier in this order: the lock of a
//! subject, sessions, codes, families, logouts, tokens; several of a kind by their keys. So no
//! deadlock is possible.

mod attempts;
mod clients;
mod consents;
mod interactions;
mod locks;
mod logouts;
mod replays;
mod sessions;
mod subject;
mod tokens;

pub(crate) use attempts::MOST_ATTEMPTS;
use oauth_core::store::Insertion;
use sqlx::postgres::PgQueryResult;

/// Converts the row count of an `INSERT … ON CONFLICT DO NOTHING`.
fn insertion(result: &PgQueryResult) -> Insertion {
    if result.rows_affected() == 0 {
        Insertion::Exists
    } else {
        Insertion::Inserted
    }
}
