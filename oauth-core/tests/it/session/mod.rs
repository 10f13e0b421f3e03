//! Browser sessions and password resets, over the public API.

mod cookie;
mod events;
mod resets;
mod sessions;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use host_ports::testing::{ManualClock, SeededEntropy};
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use oauth_core::memory::MemoryTokens;
use oauth_core::session::{SessionCookie, Sessions};
use oauth_core::vocabulary::Subject;

const MINUTE: Duration = Duration::from_secs(60);

/// Sessions over an accessible store, with a settable clock.
struct Fixture {
    sessions: Sessions,
    store: Arc<MemoryTokens>,
    clock: ManualClock,
}

fn fixture() -> Fixture {
    fixture_with(|sessions| sessions)
}

fn fixture_with(configure: impl FnOnce(Sessions) -> Sessions) -> Fixture {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let (store, clock) = (Arc::new(MemoryTokens::new()), ManualClock::new(start));
    let cookie = SessionCookie::new("session").unwrap();
    let sessions = Sessions::new(store.clone(), cookie, clock.clone(), SeededEntropy::new(7));
    Fixture {
        sessions: configure(sessions),
        store,
        clock,
    }
}

fn subject(name: &str) -> Subject {
    name.parse().unwrap()
}

/// The request headers of a browser with this cookie.
fn browser(set_cookie: &HeaderValue) -> HeaderMap {
    let pair = set_cookie.to_str().unwrap().split(';').next().unwrap();
    HeaderMap::from_iter([(COOKIE, pair.parse().unwrap())])
}
