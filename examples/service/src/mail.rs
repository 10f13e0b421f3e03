//! Letters to users. A demo has no mail server: where they go is the host's to say.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A letter to one address.
#[derive(Clone)]
#[non_exhaustive]
pub struct Letter {
    /// To whom.
    pub to: String,
    /// What it is about.
    pub subject: &'static str,
    /// What it says. For its reader alone: it may hold a link that opens something.
    pub text: String,
}

impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Letter")
            .field("to", &self.to)
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

/// Takes letters away without waiting for their delivery.
pub type Mail = Arc<dyn Fn(Letter) + Send + Sync>;

/// A letterbox: keeps the last letter, for tests and the tour.
#[derive(Clone, Debug, Default)]
pub struct Letters {
    last: Arc<Mutex<Option<Letter>>>,
}

impl Letters {
    /// Where to put letters for this box.
    #[must_use]
    pub fn as_mail(&self) -> Mail {
        let last = Arc::clone(&self.last);
        Arc::new(move |letter| *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(letter))
    }

    /// Takes the last letter out of the box.
    #[must_use]
    pub fn take(&self) -> Option<Letter> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
