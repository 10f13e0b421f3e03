//! Mails to users. The demo has no mail server; the program that runs the service decides how a
//! mail is sent.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A mail to one address.
#[derive(Clone)]
#[non_exhaustive]
pub struct Email {
    /// Email address of the recipient.
    pub to: String,
    /// Subject line.
    pub subject: &'static str,
    /// Body. May contain a link with a secret, so it must not be logged.
    pub text: String,
}

impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Email")
            .field("to", &self.to)
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

/// Sends a mail without waiting for its delivery.
pub type Mail = Arc<dyn Fn(Email) + Send + Sync>;

/// An in-memory mailbox that keeps the last mail, for tests and the tour.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    last: Arc<Mutex<Option<Email>>>,
}

impl Mailbox {
    /// [`Mail`] that delivers to this mailbox.
    #[must_use]
    pub fn as_mail(&self) -> Mail {
        let last = Arc::clone(&self.last);
        Arc::new(move |letter| *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(letter))
    }

    /// Takes the last mail; `None` if no mail arrived since the previous call.
    #[must_use]
    pub fn take(&self) -> Option<Email> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
