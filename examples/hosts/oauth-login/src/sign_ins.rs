//! Pending sign-ins.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use oauth_core::client::PendingAuthorization;
use oauth_core::secret::TokenHash;
use oauth_core::session::SessionSecret;
use oauth_core::vocabulary::State;

/// Lifetime of a pending sign-in; the client refuses a later response.
pub(crate) const LIFETIME: Duration = Duration::from_secs(600);
/// Limit of pending sign-ins; above it a new one is refused.
const CAPACITY: usize = 10_000;

/// Pending sign-ins by state, each bound to the browser that began it. A host on several machines
/// keeps a browser on one of them, or stores sign-ins for all (`PendingAuthorization::into_text`).
#[derive(Default)]
pub(crate) struct SignIns(Mutex<HashMap<State, Begun>>);

struct Begun {
    browser: TokenHash,
    until: SystemTime,
    pending: PendingAuthorization,
}

impl SignIns {
    /// Returns `true` if another sign-in can begin. A host on the internet limits them by address
    /// first, since any client can fill the capacity.
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

    /// Takes the sign-in of this browser, once.
    pub(crate) fn take(&self, browser: &SessionSecret, state: &State) -> Option<PendingAuthorization> {
        let mut begun = self.lock();
        // a link of another browser must not end it
        begun.get(state).filter(|begun| begun.browser == browser.hash())?;
        begun.remove(state).map(|begun| begun.pending)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<State, Begun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
