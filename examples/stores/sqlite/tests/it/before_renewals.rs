//! A session that a release has left behind which noted no secret from before a renewal, as its processes wrote it; and what becomes of it
//! today. For every store with such releases.

use std::time::{Duration, SystemTime};

use oauth_core::secret::TokenHash;
use oauth_core::store::{RevocationReason, SessionId, SessionOutcome, SessionRenewal, SessionStore};

const NOW_SECONDS: u64 = 1_800_000_000;

/// When it was left idle too long, in nanoseconds since 1970.
pub(crate) const ACTIVE_UNTIL: i64 = 1_800_001_800_123_456_789;

/// Two sessions, by the secrets in their cookies.
pub(crate) const COOKIES: [&str; 2] = ["se_renewed", "se_as_it_was"];

pub(crate) struct Session {
    pub(crate) id: [u8; 16],
    pub(crate) hash: [u8; 32],
    pub(crate) record: String,
}

pub(crate) fn session(place: u8, cookie: &str) -> Session {
    let (id, hash) = (SessionId::from_bytes([place; 16]), TokenHash::of(cookie));
    let time = |after: u64| {
        let seconds = NOW_SECONDS + after;
        format!(r#"{{"secs_since_epoch":{seconds},"nanos_since_epoch":123456789}}"#)
    };
    let record = format!(
        r#"{{"hash":"{hash}","id":"{id}","subject":"ada","auth_time":{now},"created_at":{now},"seen_at":{now},"expires_at":{end},"idle":{{"secs":1800,"nanos":0}},"label":"laptop","ended":null}}"#,
        now = time(0),
        end = time(8 * 60 * 60),
    );
    Session {
        id: *id.as_bytes(),
        hash: *hash.as_bytes(),
        record,
    }
}

/// Each is read, and ends by its secret: the first by the one from before a renewal too, as it is renewed today.
pub(crate) async fn check(store: &dyn SessionStore) {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW_SECONDS + 60);
    let [renewed, as_it_was] = COOKIES.map(TokenHash::of);
    for hash in [&renewed, &as_it_was] {
        let record = store.session(hash).await.unwrap().unwrap();
        assert_eq!((record.hash, record.renewed_from), (*hash, None));
    }
    let new = TokenHash::of("se_new");
    let done = store.renew_session(&renewed, new, SessionRenewal::Escalated, now);
    assert_eq!(done.await.unwrap(), SessionOutcome::Done);
    for (hash, under) in [(renewed, new), (as_it_was, as_it_was)] {
        let signed_out = RevocationReason::SignedOut;
        let ended = store.end_session_by_secret(&hash, signed_out, now).await.unwrap();
        assert_eq!(ended.as_ref().map(|session| session.hash), Some(under));
        assert_eq!(store.session(&under).await.unwrap(), ended);
    }
    assert_eq!(store.sessions_of(&"ada".parse().unwrap(), now).await.unwrap(), []);
}
