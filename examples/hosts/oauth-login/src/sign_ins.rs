//! Who is on the way to the issuer, and is expected back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use oauth_core::client::PendingAuthorization;
use oauth_core::secret::TokenHash;
use oauth_core::session::SessionSecret;
use oauth_core::vocabulary::State;

/// How long one is waited for; the client takes no answer after that.
pub(crate) const LIFETIME: Duration = Duration::from_secs(600);
/// How many are waited for: whoever comes when there are as many has to try again.
const CAPACITY: usize = 10_000;

/// Sign-ins that have begun, each known by its state to the browser alone that began it. A host of several machines keeps the
/// browser on one of them for these minutes, or each sign-in where all of them see it (`PendingAuthorization::into_text`).
#[derive(Default)]
pub(crate) struct SignIns(Mutex<HashMap<State, Begun>>);

struct Begun {
    browser: TokenHash,
    until: SystemTime,
    pending: PendingAuthorization,
}

impl SignIns {
    /// Whether one more may begin. Anybody can begin as many as there is room for: a host on the internet counts them by address first.
    pub(crate) fn has_room(&self, now: SystemTime) -> bool {
        let mut begun = self.lock();
        if begun.len() >= CAPACITY {
            begun.retain(|_, begun| now < begun.until);
        }
        begun.len() < CAPACITY
    }

    pub(crate) fn begin(&self, browser: &SessionSecret, pending: PendingAuthorization, now: SystemTime) {
        let sign_in = Begun {
            browser: browser.hash(),
            until: now.checked_add(LIFETIME).unwrap_or(now),
            pending,
        };
        self.lock().insert(sign_in.pending.state().clone(), sign_in);
    }

    /// The sign-in that this browser began, once.
    pub(crate) fn take(&self, browser: &SessionSecret, state: &State) -> Option<PendingAuthorization> {
        let mut begun = self.lock();
        // somebody else's link must not end it
        begun.get(state).filter(|begun| begun.browser == browser.hash())?;
        begun.remove(state).map(|begun| begun.pending)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<State, Begun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
