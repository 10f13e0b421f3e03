//! `/account`: the user's sessions, sign-out and password change.

mod applications;
mod device;
mod password;
mod reset;

use std::time::{Duration, SystemTime};

use askama::Template;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_conventions::errors::Problem;
use oauth_core::params::Params;
use oauth_core::session::Session;
use oauth_core::store::{RevocationReason, SessionId, SessionRecord};
use tracing::info;

pub(super) use self::applications::ApplicationShown;
use self::device::Device;
use super::browser::{Browser, form, missing_csrf_token, see_other};
use super::lists::query_parameter;
use super::page::{Capability, rendered};
use super::route::{AccountForm, Route};
use super::{App, Handled};
use crate::desk::{PasswordText, User};

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    user: &'a User,
    initial: char,
    csrf_token: &'a str,
    sessions: Vec<SessionShown>,
    applications: Vec<ApplicationShown>,
    notice: Option<&'static str>,
    password_error: Option<&'static str>,
    shortest_password: usize,
}

pub(super) struct SessionShown {
    pub(super) id: SessionId,
    pub(super) device: Device,
    pub(super) begun: String,
    pub(super) seen: String,
    /// The session of this browser.
    pub(super) here: bool,
}

impl SessionShown {
    pub(super) fn of(record: &SessionRecord, here: &SessionId, now: SystemTime) -> Self {
        Self {
            id: record.id,
            device: Device::of(record.label.as_deref().unwrap_or_default()),
            begun: ago(now, record.created_at),
            seen: ago(now, record.seen_at),
            here: record.id == *here,
        }
    }
}

/// Redirect target of a form that was sent without a session.
const SIGN_IN: &str = "/login";

impl App {
    /// Serves the account page and its forms.
    pub(super) async fn account(&self, route: &Route, request: &Request<Bytes>) -> Handled {
        match route {
            Route::AccountForm(posted) if *request.method() == Method::POST => {
                self.account_form(*posted, request).await
            }
            _ => self.show_account(request).await,
        }
    }

    async fn show_account(&self, request: &Request<Bytes>) -> Handled {
        let browser = self.browser(request.headers()).await?;
        let Some((user, session)) = self.user_of(&browser).await? else {
            return Ok(see_other(SIGN_IN, None));
        };
        let notice = query_parameter(request, "notice").and_then(|notice| notice_of(&notice));
        self.account_page(
            &browser,
            &user,
            session,
            FormNotice {
                notice,
                password_error: None,
            },
        )
        .await
    }

    async fn account_form(&self, posted: AccountForm, request: &Request<Bytes>) -> Handled {
        let form = form(request)?;
        let browser = self.browser(request.headers()).await?;
        if !browser.accepts_form(&form) {
            return Err(missing_csrf_token());
        }
        match (posted, self.user_of(&browser).await?) {
            // sign-out also accepts a session secret that was renewed meanwhile
            (AccountForm::SignOut, _) => self.sign_out(request).await,
            (_, None) => Ok(see_other(SIGN_IN, None)),
            (AccountForm::SignOutEverywhere, Some((_, session))) => self.sign_out_everywhere(session).await,
            (AccountForm::EndSession, Some((_, session))) => self.end_one_session(&form, session).await,
            (AccountForm::WithdrawConsent, Some((_, session))) => self.withdraw_consent(&form, session).await,
            (AccountForm::SignOutOfApplication, Some((_, session))) => {
                self.sign_out_of_application(&form, session).await
            }
            (AccountForm::Password, Some((user, session))) => {
                let changed = self.change_password(request, &form, &user, session).await?;
                let error = match changed {
                    Ok(cookie) => return Ok(see_other("/account?notice=password", [cookie])),
                    Err(error) => Some(error),
                };
                let said = FormNotice {
                    notice: None,
                    password_error: error,
                };
                self.account_page(&browser, &user, session, said).await
            }
        }
    }

    async fn sign_out(&self, request: &Request<Bytes>) -> Handled {
        let cleared = self.sessions.sign_out(request.headers()).await;
        let cleared = cleared.map_err(|error| self.store_failed(&error))?;
        Ok(see_other("/login?notice=signed-out", [cleared]))
    }

    async fn sign_out_everywhere(&self, session: &Session) -> Handled {
        let (subject, reason) = (&session.record.subject, RevocationReason::SignedOutEverywhere);
        let revoked = self.sessions.sign_out_everywhere(subject, None, reason).await;
        let revoked = revoked.map_err(|error| self.store_failed(&error))?;
        let (sessions, families) = (revoked.sessions, revoked.families);
        let subject = subject.as_str();
        info!(subject, sessions, families, "signed out everywhere");
        let cleared = self.sessions.cookie().clear();
        Ok(see_other("/login?notice=everywhere", [cleared]))
    }

    async fn end_one_session(&self, form: &Params, session: &Session) -> Handled {
        if let Some(id) = form.optional("session").and_then(|id| id.parse().ok()) {
            let subject = &session.record.subject;
            let ended = self.sessions.end(subject, &id).await;
            if ended.map_err(|error| self.store_failed(&error))? {
                info!(
                    subject = subject.as_str(),
                    session = display(id),
                    "session ended by its user"
                );
            }
        }
        // an unknown session, or one of another user, is ignored
        Ok(see_other("/account?notice=ended", None))
    }

    async fn account_page(
        &self,
        browser: &Browser,
        user: &User,
        session: &Session,
        said: FormNotice,
    ) -> Handled {
        let sessions = self.sessions.list(&session.record.subject).await;
        let sessions = sessions.map_err(|error| self.store_failed(&error))?;
        let status = match said.password_error {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        let (here, now) = (&session.record.id, self.clock.now());
        let mut sessions: Vec<_> = sessions
            .iter()
            .map(|record| SessionShown::of(record, here, now))
            .collect();
        sessions.sort_by_key(|session| !session.here);
        let page = AccountPage {
            user,
            initial: user.name.chars().next().unwrap_or('?'),
            csrf_token: &browser.csrf_token(),
            sessions,
            applications: self.applications(&session.record.subject).await?,
            notice: said.notice,
            password_error: said.password_error,
            shortest_password: PasswordText::SHORTEST,
        };
        rendered(status, &page, &Capability::Send(Vec::new()))
    }
}

/// Notice about the form that was sent last.
struct FormNotice {
    notice: Option<&'static str>,
    password_error: Option<&'static str>,
}

fn notice_of(notice: &str) -> Option<&'static str> {
    match notice {
        "ended" => {
            Some("That session has ended. Applications that you allowed in it have lost their access.")
        }
        "withdrawn" => Some("The application has lost its permission and its access. It must ask you again."),
        "application" => Some(
            "You are signed out of the application on every device. It keeps its permission for your next sign-in.",
        ),
        "password" => Some(
            "Your password is changed. Every other session has ended, and applications that you allowed in those have lost their access.",
        ),
        _ => None,
    }
}

/// Age of `then` as text for people.
fn ago(now: SystemTime, then: SystemTime) -> String {
    let minutes = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs() / 60;
    match (minutes / 60, minutes) {
        (0, 0) => "just now".to_owned(),
        (0, 1) => "a minute ago".to_owned(),
        (0, minutes) => format!("{minutes} minutes ago"),
        (1, _) => "an hour ago".to_owned(),
        (hours, _) => format!("{hours} hours ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ago_rounds_down_to_one_unit() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for (seconds, text) in [
            (0, "just now"),
            (59, "just now"),
            (60, "a minute ago"),
            (3599, "59 minutes ago"),
            (3600, "an hour ago"),
            (7200, "2 hours ago"),
        ] {
            assert_eq!(ago(now, now - Duration::from_secs(seconds)), text);
        }
        assert_eq!(ago(now, now + Duration::from_secs(9)), "just now");
    }
}
