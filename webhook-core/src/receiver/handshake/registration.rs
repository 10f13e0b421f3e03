//! Registration of a webhook whose secret the sender chooses.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use crate::{
    secret::SigningSecret,
    signature::{mac::MacKey, scheme::Check},
};

const MAX_SECRET: usize = 128;

/// Registration of a webhook at a sender that chooses the secret and sends it in the handshake, as
/// Asana and Notion do. Clones share all state.
///
/// The host opens the registration before it asks the sender for the webhook. The first handshake
/// before `until` closes it: its secret is kept, and verifies all later webhooks. The host stores
/// the [`secret`](Self::secret), and gives it to [`with_secret`](Self::with_secret) after a
/// restart.
///
/// # Security
///
/// The handshake is not signed. Any sender that reaches the receiver while a registration is open
/// can choose the secret, so keep it open for seconds only, on a URL that is not guessable.
#[derive(Clone, Default)]
pub struct Registration(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    open_until: Option<SystemTime>,
    secret: Option<(String, MacKey)>,
}

impl Registration {
    /// Creates a registration that took this secret earlier.
    #[must_use]
    pub fn with_secret(secret: &str) -> Self {
        let registration = Self::default();
        registration.state().secret = prepared(secret);
        registration
    }

    /// Accepts one handshake until `until`.
    pub fn open(&self, until: SystemTime) {
        self.state().open_until = Some(until);
    }

    /// Secret that the sender chose, to be stored.
    ///
    /// # Security
    ///
    /// The returned text is not wiped from memory.
    #[must_use]
    pub fn secret(&self) -> Option<String> {
        self.state().secret.as_ref().map(|(text, _)| text.clone())
    }

    /// Takes the secret of a handshake; returns `false` if the registration is not open.
    pub(super) fn take(&self, text: &str, now: SystemTime) -> bool {
        let mut state = self.state();
        let is_open = state.open_until.is_some_and(|until| now < until);
        let Some(secret) = prepared(text).filter(|_| is_open) else {
            return false;
        };
        state.open_until = None;
        state.secret = Some(secret);
        true
    }

    pub(in crate::receiver) fn key(&self) -> Option<MacKey> {
        self.state().secret.as_ref().map(|(_, key)| key.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn prepared(text: &str) -> Option<(String, MacKey)> {
    let secret = SigningSecret::danger_from_bytes_of_any_length(text.as_bytes()).ok()?;
    let key = MacKey::new(Check::HmacSha256, &secret);
    (text.len() <= MAX_SECRET).then(|| (text.to_owned(), key))
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registration(..)")
    }
}
