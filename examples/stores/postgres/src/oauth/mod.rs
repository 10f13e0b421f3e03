//! The stores of `oauth_core`: clients, interactions, spent names, counted attempts, sessions, and codes with the tokens they bought.
//!
//! Whoever waits for a row holds only rows that come before it in this order: the lock of a subject, sessions, codes, families, tokens;
//! of several of a kind, by their keys. So nobody waits in a circle.

mod attempts;
mod clients;
mod interactions;
mod replays;
mod sessions;
mod subject;
mod tokens;

pub(crate) use attempts::MOST_ATTEMPTS;
use oauth_core::store::Insertion;
use sqlx::postgres::PgQueryResult;

/// What the row count of an `INSERT … ON CONFLICT DO NOTHING` means.
fn insertion(result: &PgQueryResult) -> Insertion {
    if result.rows_affected() == 0 {
        Insertion::Exists
    } else {
        Insertion::Inserted
    }
}
