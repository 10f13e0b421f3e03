//! `/login`: the password form, for a client's request or for the account page.

use askama::Template;
use bytes::Bytes;
use http::header::USER_AGENT;
use http::{Request, StatusCode};
use http_conventions::errors::Problem;
use oauth_core::server::InteractionDetails;
use oauth_core::session::NewSession;
use oauth_core::store::{Prompt, SubjectStatus};
use oauth_core::vocabulary::Subject;

use super::super::browser::{Browser, form, see_other};
use super::super::client_address::describe_client;
use super::super::console::page_to_return_to;
use super::super::lists::query_parameter;
use super::super::page::{Capability, rendered};
use super::super::problem::unavailable;
use super::super::{App, Handled};
use super::{at, client_name, is_acceptable};
use crate::desk::Authenticated;
use crate::seed;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    client: Option<&'a str>,
    interaction: &'a str,
    /// Page of the console to return to; empty for none.
    return_to: &'a str,
    csrf_token: &'a str,
    email: &'a str,
    /// Signed-in user who may continue without a password.
    current: Option<&'a str>,
    notice: Option<&'static str>,
    error: Option<&'static str>,
    /// Email address and password of the demo's user; `None` without the demo.
    demo: Option<(&'static str, &'static str)>,
}

/// Input of the sign-in page.
struct LoginInput {
    /// Interaction of the client; empty without one.
    interaction: String,
    /// Page of the console to return to; empty for none.
    return_to: String,
    details: Option<InteractionDetails>,
    email: String,
    /// Signed-in user, if the session is sufficient for this request.
    current: Option<String>,
    notice: Option<&'static str>,
}

impl LoginInput {
    /// Redirect target after the sign-in.
    fn next(&self) -> String {
        match (self.interaction.as_str(), self.return_to.as_str()) {
            ("", "") => "/account".to_owned(),
            ("", page) => page.to_owned(),
            (interaction, _) => at("/consent", interaction),
        }
    }
}

impl App {
    pub(super) async fn show_login(&self, request: &Request<Bytes>) -> Handled {
        let interaction = query_parameter(request, "interaction");
        let mut asked = self.login_input(request, interaction.as_deref()).await?;
        asked.return_to = console_page(query_parameter(request, "return_to").as_deref());
        let browser = self.browser(request.headers()).await?;
        if let Some((user, session)) = self.user_of(&browser).await? {
            let details = asked.details.as_ref();
            let goes_on = details.is_none_or(|details| is_acceptable(session, details));
            let chooses = details.is_some_and(|details| details.prompts.contains(&Prompt::SelectAccount))
                || query_parameter(request, "switch").is_some();
            if goes_on && !chooses {
                return Ok(see_other(&asked.next(), None));
            }
            asked.current = goes_on.then_some(user.email);
        }
        asked.notice = query_parameter(request, "notice").and_then(|notice| notice_of(&notice));
        self.login_page(StatusCode::OK, &asked, &browser, None)
    }

    pub(super) async fn log_in(&self, request: &Request<Bytes>) -> Handled {
        let form = form(request)?;
        let mut asked = self.login_input(request, form.optional("interaction")).await?;
        asked.return_to = console_page(form.optional("return_to"));
        asked.email = form.optional("email").unwrap_or_default().to_owned();
        let browser = self.browser(request.headers()).await?;
        if !browser.accepts_form(&form) {
            let error = "This page was out of date. Sign in again.";
            return self.login_page(StatusCode::FORBIDDEN, &asked, &browser, Some(error));
        }
        let password = form.optional("password").unwrap_or_default();
        let begun = match self.verify_login(request, &asked.email, password).await? {
            Some(known) => self.begin_session(request, &known).await?,
            None => Err("Email and password do not match."),
        };
        let begun = match begun {
            Ok(begun) => begun,
            Err(error) => {
                // read the session again: it may have ended during the hash
                let browser = self.browser(request.headers()).await?;
                return self.login_page(StatusCode::UNPROCESSABLE_ENTITY, &asked, &browser, Some(error));
            }
        };
        Ok(see_other(&asked.next(), [begun.set_cookie]))
    }

    /// Starts a session after a correct password, or continues the session of the same user.
    /// Returns the text for the page if the account is locked, or if the password was changed
    /// meanwhile.
    async fn begin_session(
        &self,
        request: &Request<Bytes>,
        known: &Authenticated,
    ) -> Result<Result<NewSession, &'static str>, Problem> {
        let subject: Subject = known.user.subject.parse().map_err(|_| unavailable())?;
        let device = request.headers().get(USER_AGENT);
        let device = device.map(|agent| String::from_utf8_lossy(agent.as_bytes()));
        let begun = self
            .sessions
            .sign_in_again(request.headers(), &subject, device.as_deref())
            .await
            .map_err(|error| self.store_failed(&error))?;
        let id = begun.session.record.id;
        // a password change or a lock ends the sessions stored by then; a later one ends here
        let is_current = self.desk.is_current(known).await;
        let is_current = is_current.map_err(|error| self.refused(error))?;
        let is_locked = self.stores.locks.is_locked(&subject).await;
        let is_locked = is_locked.map_err(|error| self.store_failed(&error))?;
        if is_locked || !is_current {
            let ended = self.sessions.end(&subject, &id).await;
            ended.map_err(|error| self.store_failed(&error))?;
            return Ok(Err(match is_locked {
                true => "This account is locked. Contact the operator of the service.",
                false => "Email and password do not match.",
            }));
        }
        let client = describe_client(request);
        let (subject, session) = (subject.as_str(), tracing::field::display(id));
        tracing::info!(subject, client, session, "signed in");
        Ok(Ok(begun))
    }

    async fn login_input(
        &self,
        request: &Request<Bytes>,
        interaction: Option<&str>,
    ) -> Result<LoginInput, Problem> {
        let details = match interaction {
            Some(id) => Some(self.interaction(&self.server(), request, id).await?),
            None => None,
        };
        let hint = details.as_ref().and_then(|details| details.login_hint.clone());
        Ok(LoginInput {
            interaction: interaction.unwrap_or_default().to_owned(),
            return_to: String::new(),
            email: hint.unwrap_or_default(),
            details,
            current: None,
            notice: None,
        })
    }

    fn login_page(
        &self,
        status: StatusCode,
        asked: &LoginInput,
        browser: &Browser,
        error: Option<&'static str>,
    ) -> Handled {
        let page = LoginPage {
            client: asked.details.as_ref().map(client_name),
            interaction: &asked.interaction,
            return_to: &asked.return_to,
            csrf_token: &browser.csrf_token(),
            email: &asked.email,
            current: asked.current.as_deref(),
            notice: asked.notice,
            error,
            demo: self.has_demo().then_some((seed::EMAIL, seed::PASSWORD)),
        };
        let page = rendered(status, &page, &Capability::Send(Vec::new()))?;
        Ok(self.with_browser_cookie(browser, page))
    }
}

/// Page of the console that a sign-in may lead back to; empty for another one.
fn console_page(text: Option<&str>) -> String {
    text.and_then(page_to_return_to).unwrap_or_default().to_owned()
}

/// Page text for a notice in the query.
fn notice_of(notice: &str) -> Option<&'static str> {
    match notice {
        "signed-out" => Some("You have signed out."),
        "everywhere" => {
            Some("You have been signed out on every device. Applications have lost their access.")
        }
        "reset" => Some("Your password is set. Sign in with the new password."),
        _ => None,
    }
}
