//! Invariants of the tables and of each chain after a kill.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use host_store_postgres::{Database, sqlx};
use oauth_core::secret::{RefreshToken, TokenHash};
use oauth_core::store::{FamilyId, RefreshTokenState, TokenStore};

use super::Desk;
use super::chain::{Chain, Standing};

/// Each redeemed code has one family, and each family one code. Each family has one leaf, a
/// tombstone (a rotated token) for each earlier generation, and an access token for each link.
pub(crate) async fn of_the_tables(database: &Database) {
    let (families, spent, bought, found): (i64, i64, i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM oauth_family), count(redeemed), count(DISTINCT redeemed), count(family.id)
         FROM oauth_code LEFT JOIN oauth_family AS family ON family.id = redeemed",
    )
    .fetch_one(database.pool())
    .await
    .unwrap();
    assert_eq!(
        (spent, bought, found),
        (families, families, families),
        "codes spent, what they bought, what is there of it"
    );

    let half_done: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM (SELECT family, count(*) FROM oauth_refresh_token GROUP BY family) AS refresh
         FULL JOIN (SELECT family, count(*) FROM oauth_access_token GROUP BY family) AS access USING (family)
         WHERE refresh.count IS DISTINCT FROM access.count",
    )
    .fetch_one(database.pool())
    .await
    .unwrap();
    assert_eq!(half_done, 0, "families with half a link");

    let links = links(database).await;
    assert_eq!(links.len(), usize::try_from(families).unwrap());
    for (family, mut links) in links {
        links.sort_unstable();
        let last = links.len() - 1;
        let whole = (0..=last).map(|generation| (u32::try_from(generation).unwrap(), generation < last));
        assert!(links.iter().copied().eq(whole), "{family:?}: {links:?}");
    }
}

/// The links of each family: their generations, and whether they were rotated.
async fn links(database: &Database) -> BTreeMap<FamilyId, Vec<(u32, bool)>> {
    let hashes: Vec<[u8; 32]> = sqlx::query_scalar("SELECT hash FROM oauth_refresh_token")
        .fetch_all(database.pool())
        .await
        .unwrap();
    let states = hashes.into_iter().map(async |hash| {
        let hash = TokenHash::from_bytes(hash);
        database.refresh_token(&hash).await.unwrap().unwrap()
    });
    let mut links = BTreeMap::<_, Vec<_>>::new();
    for state in join_all(states).await {
        let link = (state.token.generation, is_rotated(&state));
        links.entry(state.family.id).or_default().push(link);
    }
    links
}

fn is_rotated(state: &RefreshTokenState) -> bool {
    state.token.rotated.is_some()
}

/// All received tokens are stored in one family, which is as active as its client was told.
pub(crate) async fn of_a_chain(desk: &Desk, chain: &Chain) {
    let code = desk.database.code(&chain.code.hash()).await.unwrap().unwrap();
    let Some((last, rotated)) = chain.tokens.split_last() else {
        assert!(
            code.redeemed.is_none() || chain.standing != Standing::Alive,
            "the code is not marked as redeemed"
        );
        return;
    };
    for (generation, tokens) in rotated.iter().enumerate() {
        let state = state(desk, &tokens.refresh).await;
        assert!(is_rotated(&state), "a rotation that was answered is undone");
        assert_eq!(state.token.generation, u32::try_from(generation).unwrap());
        assert_eq!(Some(state.family.id), code.redeemed);
    }
    let leaf = state(desk, &last.refresh).await;
    assert_eq!(leaf.token.generation, u32::try_from(rotated.len()).unwrap());
    assert_eq!(Some(leaf.family.id), code.redeemed);
    match chain.standing {
        Standing::Alive => {
            assert!(leaf.is_active(desk.now), "{leaf:?}");
            assert!(desk.is_active(&last.access).await);
        }
        Standing::InDoubt => {}
        Standing::Over => {
            assert!(leaf.family.revoked.is_some(), "a revoked family is alive again");
            assert!(chain.refuses_to_go_on(desk).await);
            for tokens in &chain.tokens {
                assert!(!desk.is_active(&tokens.access).await, "an access token came back");
            }
        }
    }
}

async fn state(desk: &Desk, token: &str) -> RefreshTokenState {
    let hash = token.parse::<RefreshToken>().unwrap().hash();
    let state = desk.database.refresh_token(&hash).await.unwrap();
    state.expect("an answer that was given is forgotten")
}
