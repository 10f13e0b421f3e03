//! The stores of `oauth_core`: attempts, clients, interactions, spent names, sessions, and codes with the tokens they bought.

mod attempts;
mod clients;
mod interactions;
mod replays;
mod sessions;
mod tokens;

pub use self::attempts::Attempts;

use oauth_core::store::Insertion;

/// What the row count of an `INSERT … ON CONFLICT DO NOTHING` means.
fn insertion(rows: usize) -> Insertion {
    if rows == 0 {
        Insertion::Exists
    } else {
        Insertion::Inserted
    }
}
