//! The stores of `oauth_core`: attempts, clients, consents, interactions, locks, logouts, replays,
//! sessions, codes and tokens.

mod attempts;
mod clients;
mod consents;
mod interactions;
mod locks;
mod logouts;
mod replays;
mod sessions;
mod tokens;

pub use self::attempts::Attempts;

use oauth_core::store::Insertion;

/// Converts the row count of an `INSERT … ON CONFLICT DO NOTHING`.
fn insertion(rows: usize) -> Insertion {
    if rows == 0 {
        Insertion::Exists
    } else {
        Insertion::Inserted
    }
}
