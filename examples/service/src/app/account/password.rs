//! A new password for somebody who knows the old one.

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_conventions::problem::Problem;
use oauth_core::params::Params;
use oauth_core::session::Session;
use oauth_core::store::RevocationReason;

use super::super::App;
use super::super::problem::unavailable;
use crate::desk::User;

/// In characters.
pub(super) const SHORTEST: usize = 12;
/// In bytes: hashing more would be work for nothing.
const LONGEST: usize = 1024;

/// What the page says about a password that will not do.
pub(super) fn refusal(password: &str) -> Option<&'static str> {
    if password.chars().count() < SHORTEST {
        Some("The new password is too short: 12 characters at least.")
    } else if password.len() > LONGEST {
        Some("The new password is too long.")
    } else {
        None
    }
}

impl App {
    /// Sets the password, ends everything else of the user and renews the session here; the cookie of the answer, or what
    /// was wrong.
    pub(super) async fn change_password(
        &self,
        request: &Request<Bytes>,
        form: &Params,
        user: &User,
        session: &Session,
    ) -> Result<Result<HeaderValue, &'static str>, Problem> {
        let field = |name: &str| form.optional(name).unwrap_or_default().to_owned();
        let (current, new) = (field("password"), field("new_password"));
        if let Some(refusal) = refusal(&new) {
            return Ok(Err(refusal));
        }
        let known = self.desk.authenticate(&user.email, current).await;
        if known.map_err(|error| self.refused(error))?.is_none() {
            return Ok(Err("That is not your current password."));
        }
        // before everything ends: whoever has the old password cannot come back in between
        let set = self.desk.set_password(&user.subject, new).await;
        set.map_err(|error| self.refused(error))?;
        let (subject, here) = (&session.record.subject, &session.record.id);
        let ended = self
            .sessions
            .sign_out_everywhere(subject, Some(here), RevocationReason::PasswordChanged)
            .await;
        let ended = ended.map_err(|error| self.unanswered(&error))?;
        (self.log)(&format!("{subject} changed their password: {ended:?}"));
        let renewed = self.sessions.renew(request.headers()).await;
        match renewed.map_err(|error| self.unanswered(&error))? {
            Ok(renewed) => Ok(Ok(renewed.set_cookie)),
            // signed out elsewhere in this very moment: the password is set all the same
            Err(_signed_out) => Err(unavailable()),
        }
    }
}
