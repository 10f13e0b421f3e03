//! What a release has left behind that noted of a rotation when it was and nothing else, as its processes wrote it; and what a server of
//! today makes of it. For every store with such releases.

use std::sync::Arc;

use oauth_core::secret::TokenHash;
use oauth_core::store::{FamilyId, TokenStore};
use oauth_core::testing::parallel_requests::{Desk, refresh_token};

/// When the desk stands still, in nanoseconds since 1970; and seconds.
const NOW: i64 = NOW_SECONDS * 1_000_000_000 + 123_456_789;
const NOW_SECONDS: i64 = 1_800_000_000;
const DAY: i64 = 24 * 60 * 60;

/// The end of a family, and of a token, in nanoseconds since 1970.
pub(crate) const FAMILY_EXPIRES_AT: i64 = NOW + 30 * DAY * 1_000_000_000;
pub(crate) const TOKEN_EXPIRES_AT: i64 = NOW + 14 * DAY * 1_000_000_000;

/// Three chains: each a tombstone of just now, and the leaf that took its place.
pub(crate) const CHAINS: [u8; 3] = [1, 2, 3];

pub(crate) struct Family {
    pub(crate) id: [u8; 16],
    pub(crate) record: String,
}

pub(crate) struct Token {
    pub(crate) hash: [u8; 32],
    pub(crate) family: [u8; 16],
    pub(crate) rotated_at: Option<i64>,
    pub(crate) record: String,
}

fn time(day: i64) -> String {
    let seconds = NOW_SECONDS + day * DAY;
    format!(r#"{{"secs_since_epoch":{seconds},"nanos_since_epoch":123456789}}"#)
}

pub(crate) fn family(chain: u8) -> Family {
    let id = FamilyId::from_bytes([chain; 16]);
    let record = format!(
        r#"{{"id":"{id}","grant":{{"client_id":"app","subject":"ada","scopes":"read:charges","audience":["https://api.example"],"auth_time":{now},"session":null,"nonce":null,"email":null,"name":null}},"created_at":{now},"expires_at":{end},"retain_until":{retain},"revoked":null}}"#,
        now = time(0),
        end = time(30),
        retain = time(31),
    );
    Family {
        id: *id.as_bytes(),
        record,
    }
}

/// A token of a chain; `rotated_at` stood in a column of its own then as now, and its record is that of the day it was issued.
pub(crate) fn token(label: &str, chain: u8, generation: u32, rotated_at: Option<i64>) -> Token {
    let (hash, family) = (TokenHash::of(label), FamilyId::from_bytes([chain; 16]));
    let record = format!(
        r#"{{"hash":"{hash}","family":"{family}","generation":{generation},"issued_at":{now},"expires_at":{end},"rotated_at":null}}"#,
        now = time(0),
        end = time(14),
    );
    Token {
        hash: *hash.as_bytes(),
        family: *family.as_bytes(),
        rotated_at,
        record,
    }
}

/// The tombstone and the leaf of a chain.
pub(crate) fn tokens(chain: u8) -> [Token; 2] {
    [
        token(&tombstone(chain), chain, 0, Some(NOW)),
        token(&leaf(chain), chain, 1, None),
    ]
}

fn tombstone(chain: u8) -> String {
    format!("rt_tombstone_{chain}")
}

fn leaf(chain: u8) -> String {
    format!("rt_leaf_{chain}")
}

/// What a process of that release does that is still at work: rotates `presented`, and inserts what is beside it.
pub(crate) struct Rotation {
    pub(crate) presented: [u8; 32],
    pub(crate) at: i64,
    pub(crate) successor: Token,
}

fn rotation(presented: &str, chain: u8) -> Rotation {
    Rotation {
        presented: *TokenHash::of(presented).as_bytes(),
        at: NOW,
        successor: token(&format!("rt_late_{chain}"), chain, 9, None),
    }
}

/// Lets clients present what the release has issued, to a server that answers retries, while `rotate` still writes as that release.
pub(crate) async fn check(store: Arc<dyn TokenStore>, rotate: impl AsyncFn(Rotation)) {
    let desk = Desk::retrying(Arc::clone(&store));
    let refresh = async |token: &str| desk.answer(Desk::refresh(token)).await;
    let is_revoked = async |chain: u8, label: &str| {
        let state = store.refresh_token(&TokenHash::of(label)).await.unwrap().unwrap();
        assert_eq!(state.family.id, FamilyId::from_bytes([chain; 16]));
        state.family.revoked.is_some()
    };

    // the leaf goes on, with retries and all; the tombstone before it is a theft, and nothing is known to give again
    let rotated = refresh(&leaf(1)).await;
    assert_eq!(rotated.status(), 200, "{rotated:?}");
    assert_eq!(refresh(&leaf(1)).await.body(), rotated.body());
    assert!(!is_revoked(1, &refresh_token(&rotated)).await);
    assert_eq!(refresh(&tombstone(1)).await.status(), 400);
    assert!(is_revoked(1, &refresh_token(&rotated)).await);

    // what was rotated by the old while the new was there already: within the window, and still a theft
    rotate(rotation(&leaf(2), 2)).await;
    assert!(!is_revoked(2, "rt_late_2").await);
    let state = store
        .refresh_token(&TokenHash::of(&leaf(2)))
        .await
        .unwrap()
        .unwrap();
    assert!(
        state.token.rotated.is_some() && state.successor.is_none(),
        "{state:?}"
    );
    assert_eq!(refresh(&leaf(2)).await.status(), 400);
    assert!(is_revoked(2, "rt_late_2").await);

    // the old has used what the new has issued: the answer was not lost
    let rotated = refresh(&leaf(3)).await;
    assert_eq!(rotated.status(), 200, "{rotated:?}");
    rotate(rotation(&refresh_token(&rotated), 3)).await;
    assert!(!is_revoked(3, "rt_late_3").await);
    assert_eq!(refresh(&leaf(3)).await.status(), 400);
    assert!(is_revoked(3, "rt_late_3").await);
}
