//! `/authorize`, `/login` and `/consent`: the pages on which a user signs in and allows a client.
//!
//! The authorization server returns each request as an interaction: an id, which the pages carry,
//! and a secret, which is stored in a cookie per sign-in. Both are required to continue, so a link
//! sent to another person is useless.
//!
//! The session identifies the user. A browser with a session goes straight to the consent page,
//! unless the client requires a fresh password.

mod consent;
mod end_session;
mod login;
mod signed_in;

pub(super) use signed_in::SignedInUsers;

use bytes::Bytes;
use http::{Method, Request};
use http_conventions::errors::{ErrorStatus, Problem};
use oauth_core::AuthorizationServer;
use oauth_core::server::{Authentication, Authorize, Consent, InteractionDetails};
use oauth_core::session::Session;
use oauth_core::store::SessionRecord;
use oauth_core::vocabulary::Subject;

use super::browser::see_other;
use super::page::under_policy;
use super::problem::unavailable;
use super::route::Route;
use super::{App, Handled};
use crate::desk::User;

impl App {
    pub(super) async fn authorize(&self, request: Request<Bytes>) -> Handled {
        // one for both steps: the signing keys may rotate in between
        let server = self.server();
        let interaction = match server.authorize(request.clone()).await {
            Authorize::Respond(answer) => return Ok(under_policy(self.log_and_return(answer))),
            Authorize::Interact(interaction) => interaction,
        };
        self.log_events(&interaction.events);
        if let Some(email) = &self.sign_in_as {
            let user = self
                .desk
                .user_by_email(email)
                .await
                .map_err(|error| self.refused(error))?;
            // the user existed when the service was opened
            let user = user.ok_or_else(unavailable)?;
            let decision = Consent::Granted(without_session(&user, self.clock.now())?);
            let answer = server
                .resume(&request, &interaction.id, interaction.browser.expose(), decision)
                .await;
            return Ok(self.log_and_return(answer));
        }
        let page = at("/login", &interaction.id);
        Ok(see_other(&page, [interaction.set_cookie]))
    }

    /// Serves the pages of a sign-in.
    pub(super) async fn sign_in(&self, route: &Route, request: &Request<Bytes>) -> Handled {
        match (route, request.method()) {
            (Route::Consent, &Method::GET) => self.show_consent(request).await,
            (Route::Consent, _) => self.decide(request).await,
            (_, &Method::GET) => self.show_login(request).await,
            _ => self.log_in(request).await,
        }
    }

    /// Reads the interaction if this browser started it.
    async fn interaction(
        &self,
        server: &AuthorizationServer,
        request: &Request<Bytes>,
        id: &str,
    ) -> Result<InteractionDetails, Problem> {
        let browser = server.browser_secret(id, request.headers());
        let details = server.interaction(id, browser.expose()).await;
        details
            .map_err(|error| self.store_failed(&error))?
            .ok_or_else(gone)
    }
}

/// Path of a page with an interaction.
fn at(page: &str, interaction: &str) -> String {
    format!("{page}?interaction={interaction}")
}

/// Returns `true` if the client accepts the user of this session, and a sign-in as old as it.
fn is_acceptable(session: &Session, details: &InteractionDetails) -> bool {
    let record = &session.record;
    let expected = details.expected_subject.as_ref();
    expected.is_none_or(|expected| *expected == record.subject)
        && details
            .signed_in_since
            .is_none_or(|since| record.auth_time >= since)
}

fn gone() -> Problem {
    Problem::new(ErrorStatus::BAD_REQUEST)
        .with_detail("this sign-in has expired or was started in another browser; go back to the application and start again")
}

/// Authentication of the user of a session.
fn authentication(user: &User, session: &SessionRecord) -> Authentication {
    Authentication::new(session.subject.clone(), session.auth_time)
        .with_email(&user.email)
        .with_name(&user.name)
        .with_session(session.id)
}

/// Authentication of a user without a session.
fn without_session(user: &User, auth_time: std::time::SystemTime) -> Result<Authentication, Problem> {
    let subject: Subject = user.subject.parse().map_err(|_| unavailable())?;
    Ok(Authentication::new(subject, auth_time)
        .with_email(&user.email)
        .with_name(&user.name))
}

fn client_name(details: &InteractionDetails) -> &str {
    details
        .client_name
        .as_deref()
        .unwrap_or(details.client_id.as_str())
}
