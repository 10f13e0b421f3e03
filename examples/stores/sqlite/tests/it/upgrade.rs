//! A file that an earlier release has left behind.

use std::sync::Arc;

use host_store_sqlite::DatabaseError;
use host_store_sqlite::rusqlite::{Connection, Transaction};

use crate::before_renewals;
use crate::before_retries::{
    CHAINS, FAMILY_EXPIRES_AT, Rotation, TOKEN_EXPIRES_AT, Token, check, family, tokens,
};
use crate::support::File;

/// The steps of the release before it was noted what a token is exchanged for.
const STEPS: [&str; 7] = [
    include_str!("../../src/schema/0001.sql"),
    include_str!("../../src/schema/0002.sql"),
    include_str!("../../src/schema/0003.sql"),
    include_str!("../../src/schema/0004.sql"),
    include_str!("../../src/schema/0005.sql"),
    include_str!("../../src/schema/0006.sql"),
    include_str!("../../src/schema/0007.sql"),
];

/// O10, 53: tokens of the release before go on, its tombstones betray a theft, and so do those that a process of it makes while it is
/// still at work beside this one.
#[tokio::test]
async fn tokens_of_the_release_before_go_on_and_its_tombstones_betray() {
    let file = File::new();
    let connection = Connection::open(file.path()).unwrap();
    connection.execute_batch(&STEPS.concat()).unwrap();
    let version = i64::try_from(STEPS.len()).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
    for chain in CHAINS {
        let family = family(chain);
        connection
            .execute(
                "INSERT INTO oauth_family (id, expires_at, retain_until, record) VALUES (?1, ?2, ?2, ?3)",
                (family.id, FAMILY_EXPIRES_AT, family.record),
            )
            .unwrap();
        for token in tokens(chain) {
            insert(&connection, token).unwrap();
        }
    }
    drop(connection);

    let database = file.open();
    check(Arc::new(database.clone()), async |rotation| {
        database
            .write(move |transaction| rotate(transaction, rotation))
            .await
            .unwrap();
    })
    .await;
}

/// S1, S4: sessions of the release before the secret from before a renewal was noted go on, and end by it from then on.
#[tokio::test]
async fn sessions_of_the_release_before_go_on_and_end() {
    let file = File::new();
    let connection = Connection::open(file.path()).unwrap();
    connection.execute_batch(&STEPS.concat()).unwrap();
    let later = include_str!("../../src/schema/0008.sql");
    connection.execute_batch(later).unwrap();
    connection.pragma_update(None, "user_version", 8).unwrap();
    for (place, cookie) in before_renewals::COOKIES.into_iter().enumerate() {
        let session = before_renewals::session(u8::try_from(place).unwrap(), cookie);
        connection
            .execute(
                "INSERT INTO oauth_session (id, hash, subject, active_until, record) VALUES (?1, ?2, 'ada', ?3, ?4)",
                (session.id, session.hash, before_renewals::ACTIVE_UNTIL, session.record),
            )
            .unwrap();
    }
    drop(connection);
    before_renewals::check(&file.open()).await;
}

fn insert(connection: &Connection, token: Token) -> Result<(), DatabaseError> {
    connection.execute(
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, rotated_at, record) VALUES (?1, ?2, ?3, ?4, ?5)",
        (token.hash, token.family, TOKEN_EXPIRES_AT, token.rotated_at, token.record),
    )?;
    Ok(())
}

fn rotate(transaction: &Transaction<'_>, rotation: Rotation) -> Result<(), DatabaseError> {
    let rotated = transaction.execute(
        "UPDATE oauth_refresh_token SET rotated_at = ?2 WHERE hash = ?1",
        (rotation.presented, rotation.at),
    )?;
    assert_eq!(rotated, 1);
    insert(transaction, rotation.successor)
}
