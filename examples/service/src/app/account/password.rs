//! Password change with the current password.

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_conventions::errors::Problem;
use oauth_core::params::Params;
use oauth_core::session::Session;
use oauth_core::store::RevocationReason;

use super::super::App;
use super::super::client_address::describe_client;
use super::super::problem::unavailable;
use crate::desk::{InvalidPassword, PasswordText, User};

const NOT_CURRENT: &str = "That is not your current password.";

/// Page text for an invalid new password.
pub(super) const fn refusal(invalid: InvalidPassword) -> &'static str {
    match invalid {
        InvalidPassword::TooShort => "The new password is too short. Use at least 12 characters.",
        InvalidPassword::TooLong => "The new password is too long. Use at most 1024 bytes.",
    }
}

impl App {
    /// Changes the password, revokes all other sessions and tokens of the user and renews this
    /// session. Returns the new cookie, or the page text of the refusal.
    pub(super) async fn change_password(
        &self,
        request: &Request<Bytes>,
        form: &Params,
        user: &User,
        session: &Session,
    ) -> Result<Result<HeaderValue, &'static str>, Problem> {
        let field = |name: &str| form.optional(name).unwrap_or_default();
        let new = match field("new_password").parse::<PasswordText>() {
            Ok(new) => new,
            Err(invalid) => return Ok(Err(refusal(invalid))),
        };
        let Some(known) = self.verify_login(request, &user.email, field("password")).await? else {
            return Ok(Err(NOT_CURRENT));
        };
        // set the password first, so that the old one cannot open a new session in between
        let changed = self.desk.change_password(&known, new).await;
        if !changed.map_err(|error| self.refused(error))? {
            // another request has changed it meanwhile
            return Ok(Err(NOT_CURRENT));
        }
        let (subject, here) = (&session.record.subject, &session.record.id);
        let ended = self
            .sessions
            .sign_out_everywhere(subject, Some(here), RevocationReason::PasswordChanged)
            .await;
        let ended = ended.map_err(|error| self.store_failed(&error))?;
        let (sessions, families) = (ended.sessions, ended.families);
        let (subject, client) = (subject.as_str(), describe_client(request));
        tracing::info!(subject, client, sessions, families, "password changed");
        let renewed = self.sessions.renew(request.headers()).await;
        match renewed.map_err(|error| self.store_failed(&error))? {
            Ok(renewed) => Ok(Ok(renewed.set_cookie)),
            // another request has ended this session; the password is changed
            Err(_signed_out) => Err(unavailable()),
        }
    }
}
