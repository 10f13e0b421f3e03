//! `/password/forgotten` and `/password/reset`: a new password for somebody who has lost the old one, by a letter.

use askama::Template;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_conventions::problem::Problem;
use oauth_core::secret::PasswordResetToken;
use oauth_core::store::{ResetOutcome, RevocationReason};

use super::super::browser::{Browser, form, not_given, see_other};
use super::super::lists::query_parameter;
use super::super::page::{Does, rendered};
use super::super::{App, Handled};
use super::password;
use crate::desk::User;
use crate::mail::Letter;

#[derive(Template)]
#[template(path = "forgotten.html")]
struct ForgottenPage<'a> {
    csrf_token: &'a str,
    /// The address that a letter was asked for.
    sent: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "reset.html")]
struct ResetPage<'a> {
    csrf_token: &'a str,
    token: &'a str,
    /// Of whom; nobody's once the link is over.
    email: Option<&'a str>,
    error: Option<&'static str>,
    shortest_password: usize,
}

impl App {
    /// Asks for the address, and sends a letter to whoever has it. The page says the same of an address that nobody has.
    pub(in crate::app) async fn forgotten(&self, request: &Request<Bytes>) -> Handled {
        let browser = self.browser(request.headers()).await?;
        if *request.method() == Method::GET {
            return self.forgotten_page(&browser, None);
        }
        let form = form(request)?;
        if !browser.was_given(&form) {
            return Err(not_given());
        }
        let email = form.optional("email").unwrap_or_default();
        let user = self.desk.user_by_email(email).await;
        let user = user.map_err(|error| self.refused(error))?;
        let subject = user.as_ref().and_then(|user| user.subject.parse().ok());
        let token = self.sessions.issue_reset(subject.as_ref()).await;
        let token = token.map_err(|error| self.unanswered(&error))?;
        if let Some((user, token)) = user.zip(token) {
            let link = format!("{}/password/reset?token={}", self.base_url, token.expose());
            (self.mail)(Letter {
                to: user.email,
                subject: "A new password for the payments desk",
                text: format!(
                    "Set it within 15 minutes at {link}\nIf you did not ask for it, there is nothing to do."
                ),
            });
        }
        self.forgotten_page(&browser, Some(email))
    }

    fn forgotten_page(&self, browser: &Browser, sent: Option<&str>) -> Handled {
        let page = ForgottenPage {
            csrf_token: &browser.csrf_token(),
            sent,
        };
        let page = rendered(StatusCode::OK, &page, &Does::Send(Vec::new()))?;
        Ok(self.handed_to(browser, page))
    }

    /// Where the letter leads: the new password, once.
    pub(in crate::app) async fn reset(&self, request: &Request<Bytes>) -> Handled {
        let browser = self.browser(request.headers()).await?;
        if *request.method() == Method::GET {
            let token = query_parameter(request, "token").unwrap_or_default();
            // a link is followed by many that are not its reader: that spends nothing
            let user = self.user_of_letter(&token).await?;
            return self.reset_page(&browser, &token, user.as_ref(), None);
        }
        let form = form(request)?;
        if !browser.was_given(&form) {
            return Err(not_given());
        }
        let token = form.optional("token").unwrap_or_default();
        let new = form.optional("new_password").unwrap_or_default();
        if let Some(refusal) = password::refusal(new) {
            let user = self.user_of_letter(token).await?;
            return self.reset_page(&browser, token, user.as_ref(), Some(refusal));
        }
        let Ok(parsed) = token.parse::<PasswordResetToken>() else {
            return self.reset_page(&browser, "", None, None);
        };
        let outcome = self.sessions.redeem_reset(&parsed).await;
        let ResetOutcome::Redeemed { subject, revoked, .. } =
            outcome.map_err(|error| self.unanswered(&error))?
        else {
            return self.reset_page(&browser, "", None, None);
        };
        (self.log)(&format!("{subject} reset their password: {revoked:?}"));
        let set = self.desk.set_password(subject.as_str(), new.to_owned()).await;
        set.map_err(|error| self.refused(error))?;
        // whoever signed in with the old password while the new one was set
        let again = self
            .sessions
            .sign_out_everywhere(&subject, None, RevocationReason::PasswordReset)
            .await;
        let _none = again.map_err(|error| self.unanswered(&error))?;
        Ok(see_other("/login?notice=reset", None))
    }

    /// Whose password the token in a letter sets; nobody's once it is over.
    async fn user_of_letter(&self, token: &str) -> Result<Option<User>, Problem> {
        let Ok(token) = token.parse::<PasswordResetToken>() else {
            return Ok(None);
        };
        let subject = self.sessions.reset_subject(&token).await;
        let Some(subject) = subject.map_err(|error| self.unanswered(&error))? else {
            return Ok(None);
        };
        let user = self.desk.user_by_subject(subject.as_str()).await;
        user.map_err(|error| self.refused(error))
    }

    fn reset_page(
        &self,
        browser: &Browser,
        token: &str,
        user: Option<&User>,
        error: Option<&'static str>,
    ) -> Handled {
        let status = match (user, error) {
            (Some(_), None) => StatusCode::OK,
            (Some(_), Some(_)) => StatusCode::UNPROCESSABLE_ENTITY,
            (None, _) => StatusCode::BAD_REQUEST,
        };
        let page = ResetPage {
            csrf_token: &browser.csrf_token(),
            token,
            email: user.map(|user| user.email.as_str()),
            error,
            shortest_password: password::SHORTEST,
        };
        let page = rendered(status, &page, &Does::Send(Vec::new()))?;
        Ok(self.handed_to(browser, page))
    }
}
