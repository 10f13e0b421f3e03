//! `/password/forgotten` and `/password/reset`: a new password after a link in a mail.

use askama::Template;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_conventions::errors::Problem;
use oauth_core::attempts::{AttemptKey, AttemptPolicy};
use oauth_core::secret::PasswordResetToken;
use oauth_core::store::{ResetOutcome, RevocationReason};

use super::super::browser::{Browser, form, missing_csrf_token, see_other};
use super::super::lists::query_parameter;
use super::super::page::{Capability, rendered};
use super::super::{App, Handled};
use super::password;
use crate::desk::{HashedPassword, PasswordText, User};
use crate::mail::Email;

#[derive(Template)]
#[template(path = "forgotten.html")]
struct ForgottenPage<'a> {
    csrf_token: &'a str,
    /// Address that the mail was requested for.
    sent: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "reset.html")]
struct ResetPage<'a> {
    csrf_token: &'a str,
    token: &'a str,
    /// User of the link; `None` if the link is invalid.
    email: Option<&'a str>,
    error: Option<&'static str>,
    shortest_password: usize,
}

impl App {
    /// Asks for an email address and mails a reset link to it. The page is the same for an unknown
    /// address.
    pub(in crate::app) async fn forgotten(&self, request: &Request<Bytes>) -> Handled {
        let browser = self.browser(request.headers()).await?;
        if *request.method() == Method::GET {
            return self.forgotten_page(&browser, None);
        }
        let form = form(request)?;
        if !browser.accepts_form(&form) {
            return Err(missing_csrf_token());
        }
        let email = form.optional("email").unwrap_or_default();
        let user = self.desk.user_by_email(email).await;
        let user = user.map_err(|error| self.refused(error))?;
        let subject = user.as_ref().and_then(|user| user.subject.parse().ok());
        let token = self.sessions.issue_reset(email, subject.as_ref()).await;
        let token = token.map_err(|error| self.store_failed(&error))?;
        if let Some((user, token)) = user.zip(token) {
            let link = format!("{}/password/reset?token={}", self.base_url, token.expose());
            (self.mail)(Email {
                to: user.email,
                subject: "Reset your password for the payments desk",
                text: format!(
                    "Set a new password within 15 minutes: {link}\nIf you did not request this, ignore this mail."
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
        let page = rendered(StatusCode::OK, &page, &Capability::Send(Vec::new()))?;
        Ok(self.with_browser_cookie(browser, page))
    }

    /// Page of the reset link: sets a new password once.
    pub(in crate::app) async fn reset(&self, request: &Request<Bytes>) -> Handled {
        let browser = self.browser(request.headers()).await?;
        if *request.method() == Method::GET {
            let token = query_parameter(request, "token").unwrap_or_default();
            // mail scanners also follow links, so a GET does not consume the token
            let user = self.user_of_token(&token).await?;
            return self.reset_page(&browser, &token, user.as_ref(), None);
        }
        let form = form(request)?;
        if !browser.accepts_form(&form) {
            return Err(missing_csrf_token());
        }
        let token = form.optional("token").unwrap_or_default();
        // hash only with a valid token: hashing is costly
        let (Some(user), Ok(parsed)) = (self.user_of_token(token).await?, token.parse()) else {
            return self.reset_page(&browser, "", None, None);
        };
        let new = match form.optional("new_password").unwrap_or_default().parse() {
            Ok(new) => new,
            Err(invalid) => {
                return self.reset_page(&browser, token, Some(&user), Some(password::refusal(invalid)));
            }
        };
        let place = self.desk.hashing_place().map_err(|error| self.refused(error))?;
        // limits the passwords hashed for one token
        let key = AttemptKey::named("letter", token);
        self.attempt(request, &key, &AttemptPolicy::PASSWORDS).await?;
        // consume the token only after the hash has succeeded
        let hash = self.desk.hash_password(place, new).await;
        let hash = hash.map_err(|error| self.refused(error))?;
        if self.redeem(&parsed, hash).await? {
            Ok(see_other("/login?notice=reset", None))
        } else {
            self.reset_page(&browser, "", None, None)
        }
    }

    /// Consumes the token, sets the password, and revokes all sessions and tokens of the user.
    /// Returns `false` if the token was consumed meanwhile.
    async fn redeem(&self, token: &PasswordResetToken, password: HashedPassword) -> Result<bool, Problem> {
        let outcome = self.sessions.redeem_reset(token).await;
        let ResetOutcome::Redeemed { subject, revoked, .. } =
            outcome.map_err(|error| self.store_failed(&error))?
        else {
            return Ok(false);
        };
        let (sessions, families) = (revoked.sessions, revoked.families);
        tracing::info!(subject = subject.as_str(), sessions, families, "password reset");
        let set = self.desk.set_password(subject.as_str(), password).await;
        set.map_err(|error| self.refused(error))?;
        // also revoke a session that the old password opened meanwhile
        let again = self
            .sessions
            .sign_out_everywhere(&subject, None, RevocationReason::PasswordReset)
            .await;
        let _none = again.map_err(|error| self.store_failed(&error))?;
        Ok(true)
    }

    /// User whose password the token may set; `None` if the token is invalid.
    async fn user_of_token(&self, token: &str) -> Result<Option<User>, Problem> {
        let Ok(token) = token.parse::<PasswordResetToken>() else {
            return Ok(None);
        };
        let subject = self.sessions.reset_subject(&token).await;
        let Some(subject) = subject.map_err(|error| self.store_failed(&error))? else {
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
            shortest_password: PasswordText::SHORTEST,
        };
        let page = rendered(status, &page, &Capability::Send(Vec::new()))?;
        Ok(self.with_browser_cookie(browser, page))
    }
}

#[cfg(test)]
mod tests {
    use host_store_sqlite::Database;
    use http::header::{CONTENT_TYPE, COOKIE};
    use oauth_core::ports::OsEntropy;
    use oauth_core::session::SessionSecret;

    use super::*;
    use crate::app::Config;

    async fn app() -> App {
        let database = Database::open_in_memory().unwrap();
        App::open(Config::new("http://127.0.0.1:8080", database))
            .await
            .unwrap()
    }

    /// Status of the response to a submitted reset form.
    async fn posted(app: &App, token: &str) -> StatusCode {
        let secret = SessionSecret::generate(&OsEntropy);
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("new_password", "another long password")
            .append_pair("csrf_token", &secret.csrf_token())
            .finish();
        let cookie = format!("{}={}", app.sessions.cookie().name(), secret.expose());
        let request = Request::post("/password/reset")
            .header(COOKIE, cookie)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        match app.reset(&request.body(form.into()).unwrap()).await {
            Ok(response) => response.status(),
            Err(problem) => problem.status(),
        }
    }

    /// S5: without a valid token no password is hashed, and a failed hash does not consume the
    /// token.
    #[tokio::test]
    async fn reset_hashes_with_valid_token_and_then_consumes_it() {
        let app = app().await;
        let ada = "usr_ada".parse().unwrap();
        let token = app
            .sessions
            .issue_reset("ada@example.com", Some(&ada))
            .await
            .unwrap()
            .unwrap();
        app.desk.stop_hashing();
        let unknown = PasswordResetToken::generate(&OsEntropy);
        assert_eq!(posted(&app, unknown.expose()).await, StatusCode::BAD_REQUEST);
        assert_eq!(posted(&app, "").await, StatusCode::BAD_REQUEST);
        assert_eq!(
            posted(&app, token.expose()).await,
            StatusCode::SERVICE_UNAVAILABLE
        );
        assert_eq!(app.sessions.reset_subject(&token).await.unwrap(), Some(ada));
    }

    /// S5: five passwords are hashed per token, then the form is rate-limited; an attempt without a
    /// hash is not counted.
    #[tokio::test]
    async fn one_reset_token_hashes_five_passwords() {
        let app = app().await;
        let ada = "usr_ada".parse().unwrap();
        let letter = async || {
            let token = app.sessions.issue_reset("ada@example.com", Some(&ada)).await;
            token.unwrap().unwrap()
        };
        let token = letter().await;
        let flood: Vec<_> = std::iter::from_fn(|| app.desk.hashing_place().ok()).collect();
        for _ in 0..10 {
            assert_eq!(
                posted(&app, token.expose()).await,
                StatusCode::SERVICE_UNAVAILABLE
            );
        }
        drop(flood);
        app.desk.stop_hashing();
        for _ in 0..5 {
            assert_eq!(
                posted(&app, token.expose()).await,
                StatusCode::SERVICE_UNAVAILABLE
            );
        }
        assert_eq!(posted(&app, token.expose()).await, StatusCode::TOO_MANY_REQUESTS);
        let another = letter().await;
        assert_eq!(
            posted(&app, another.expose()).await,
            StatusCode::SERVICE_UNAVAILABLE
        );
    }
}
