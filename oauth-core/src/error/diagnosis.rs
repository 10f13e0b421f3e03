//! Errors with their causes, for logs.

use std::error::Error;
use std::iter::{once, successors};

/// Returns an error with all its causes in one line, for the log. `Display` of the errors of this
/// crate omits the cause.
///
/// ```
/// use oauth_core::error::diagnosis;
/// use oauth_core::jose::{JwtError, VerifyError};
///
/// let error = VerifyError::Refused(JwtError::Expired);
/// assert_eq!(diagnosis(&error), "the token was refused: the token is expired");
/// ```
#[must_use]
pub fn diagnosis<E: Error + ?Sized>(error: &E) -> String {
    let causes = successors(error.source(), |&cause| cause.source());
    let texts = once(error.to_string()).chain(causes.map(ToString::to_string));
    texts.collect::<Vec<_>>().join(": ")
}
