//! A schema that an earlier release has left behind.

use std::sync::Arc;

use host_store_postgres::sqlx;
use sqlx::PgPool;

use crate::before_renewals;
use crate::before_retries::{
    CHAINS, FAMILY_EXPIRES_AT, Rotation, TOKEN_EXPIRES_AT, Token, check, family, tokens,
};
use crate::server::schema;
use crate::support::execute;

/// The steps of the release before it was noted what a token is exchanged for.
const STEPS: [&str; 5] = [
    include_str!("../../src/schema/0001.sql"),
    include_str!("../../src/schema/0002.sql"),
    include_str!("../../src/schema/0003.sql"),
    include_str!("../../src/schema/0004.sql"),
    include_str!("../../src/schema/0005.sql"),
];

/// O10, 53: tokens of the release before go on, its tombstones betray a theft, and so do those that a process of it makes while it is
/// still at work beside this one.
#[tokio::test]
async fn tokens_of_the_release_before_go_on_and_its_tombstones_betray() {
    let schema = schema!();
    let pool = schema.pool(&[]).await;
    lay_out(&pool, &STEPS).await;
    for chain in CHAINS {
        let family = family(chain);
        sqlx::query(
            "INSERT INTO oauth_family (id, subject, expires_at, retain_until, record) VALUES ($1, 'ada', $2, $2, $3)",
        )
        .bind(family.id)
        .bind(FAMILY_EXPIRES_AT)
        .bind(family.record)
        .execute(&pool)
        .await
        .unwrap();
        for token in tokens(chain) {
            insert(&pool, token).await;
        }
    }

    let database = schema.database().await;
    check(Arc::new(database), async |rotation| rotate(&pool, rotation).await).await;
}

/// S1, S4: sessions of the release before the secret from before a renewal was noted go on, and end by it from then on.
#[tokio::test]
async fn sessions_of_the_release_before_go_on_and_end() {
    let schema = schema!();
    let pool = schema.pool(&[]).await;
    let mut steps = STEPS.to_vec();
    steps.push(include_str!("../../src/schema/0006.sql"));
    lay_out(&pool, &steps).await;
    for (place, cookie) in before_renewals::COOKIES.into_iter().enumerate() {
        let session = before_renewals::session(u8::try_from(place).unwrap(), cookie);
        sqlx::query(
            "INSERT INTO oauth_session (id, hash, subject, active_until, record) VALUES ($1, $2, 'ada', $3, $4)",
        )
        .bind(session.id)
        .bind(session.hash)
        .bind(before_renewals::ACTIVE_UNTIL)
        .bind(session.record)
        .execute(&pool)
        .await
        .unwrap();
    }
    before_renewals::check(&schema.database().await).await;
}

/// The schema as a release left it that knew these steps.
async fn lay_out(pool: &PgPool, steps: &[&str]) {
    execute(pool, &steps.concat()).await;
    let version = format!(
        "CREATE TABLE store_component (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
         INSERT INTO store_component VALUES ('host-store-postgres', {})",
        steps.len()
    );
    execute(pool, &version).await;
}

async fn insert(pool: &PgPool, token: Token) {
    sqlx::query(
        "INSERT INTO oauth_refresh_token (hash, family, expires_at, rotated_at, record) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(token.hash)
    .bind(token.family)
    .bind(TOKEN_EXPIRES_AT)
    .bind(token.rotated_at)
    .bind(token.record)
    .execute(pool)
    .await
    .unwrap();
}

async fn rotate(pool: &PgPool, rotation: Rotation) {
    let rotated = sqlx::query("UPDATE oauth_refresh_token SET rotated_at = $2 WHERE hash = $1")
        .bind(rotation.presented)
        .bind(rotation.at)
        .execute(pool)
        .await
        .unwrap();
    assert_eq!(rotated.rows_affected(), 1);
    insert(pool, rotation.successor).await;
}
