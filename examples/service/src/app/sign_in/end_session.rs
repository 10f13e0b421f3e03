//! `/end_session`: sign-out that a client requests.

use askama::Template;
use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{Method, Request, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use oauth_core::params::{Params, encode};
use oauth_core::server::{EndSession, SignOutRequest};
use oauth_core::store::SessionStore;

use super::super::browser::{form, missing_csrf_token, see_other};
use super::super::page::{Capability, rendered};
use super::super::{App, Handled};
use super::consent::Destination;

/// Parameters that the question repeats.
const REPEATED: [&str; 4] = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"];

#[derive(Template)]
#[template(path = "end_session.html")]
struct EndSessionPage<'a> {
    client: &'a str,
    name: &'a str,
    csrf_token: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl App {
    pub(in crate::app) async fn end_session(&self, request: &Request<Bytes>) -> Handled {
        let params = match *request.method() {
            Method::POST => form(request)?,
            _ => query(request)?,
        };
        let decision = params.optional("decision");
        if *request.method() == Method::POST && decision.is_none() {
            // a form of another site has no SameSite=Lax cookie, but the redirect that follows has
            let pairs = REPEATED.map(|name| Some((name, params.optional(name)?)));
            let query = encode(pairs.into_iter().flatten());
            return Ok(see_other(&format!("/end_session?{query}"), None));
        }
        let asked = match self.server().end_session(request).await {
            EndSession::Respond(answer) => return Ok(self.log_and_return(answer)),
            EndSession::SignOut(asked) => asked,
        };
        let browser = self.browser(request.headers()).await?;
        let Some((user, session)) = self.user_of(&browser).await? else {
            return self.end_timed_out(&asked, request).await;
        };
        match decision {
            None if asked.needs_confirmation(&session.record.subject, &session.record.id) => {
                let csrf_token = browser.csrf_token();
                let page = EndSessionPage {
                    client: asked.client_name.as_deref().unwrap_or("An application"),
                    name: &user.name,
                    csrf_token: &csrf_token,
                    parameters: REPEATED
                        .into_iter()
                        .filter_map(|name| Some((name, params.optional(name)?)))
                        .collect(),
                };
                let target = asked.post_logout_redirect_uri();
                let origin = target.map(|uri| Destination::of(uri.as_str()).source);
                return rendered(
                    StatusCode::OK,
                    &page,
                    &Capability::Send(origin.into_iter().collect()),
                );
            }
            Some(_) if !browser.accepts_form(&params) => return Err(missing_csrf_token()),
            None | Some("sign-out") => {}
            Some(_) => return Ok(see_other("/account", None)),
        }
        self.sign_out_and_leave(&asked, request).await
    }

    /// Ends the grants of the browser's session that has timed out, if the request is of this
    /// session: a timeout alone revokes nothing.
    async fn end_timed_out(&self, asked: &SignOutRequest, request: &Request<Bytes>) -> Handled {
        let Some(secret) = self.sessions.cookie().read(request.headers()) else {
            return Ok(leave(asked, request));
        };
        let session = self.stores.sessions.session(&secret.hash()).await;
        let session = session.map_err(|error| self.store_failed(&error))?;
        match session {
            Some(session) if !asked.needs_confirmation(&session.subject, &session.id) => {
                self.sign_out_and_leave(asked, request).await
            }
            _ => Ok(leave(asked, request)),
        }
    }

    async fn sign_out_and_leave(&self, asked: &SignOutRequest, request: &Request<Bytes>) -> Handled {
        let cleared = self.sessions.sign_out(request.headers()).await;
        let cleared = cleared.map_err(|error| self.store_failed(&error))?;
        let mut response = leave(asked, request);
        response.headers_mut().append(SET_COOKIE, cleared);
        Ok(response)
    }
}

/// Redirects to the client, or to the sign-in page.
fn leave(asked: &SignOutRequest, request: &Request<Bytes>) -> http::Response<Bytes> {
    let redirect = asked.redirect(request.method());
    redirect.unwrap_or_else(|| see_other("/login?notice=signed-out", None))
}

fn query(request: &Request<Bytes>) -> Result<Params, Problem> {
    let query = request.uri().query().unwrap_or_default();
    Params::parse(query.as_bytes())
        .map_err(|_| Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the query is malformed"))
}
