//! `/authorize`, `/login` and `/consent`: how a user lets a client act for them.
//!
//! The authorization server hands each request over as an interaction: an id that travels through the pages and a secret that
//! stays in a cookie of the browser, one for each sign-in under way. Only both together go on, so a link sent to somebody
//! else leads nowhere, and a form on another site does nothing.

use askama::Template;
use bytes::Bytes;
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_conventions::cache_control::CacheControl;
use http_conventions::problem::{ErrorStatus, Problem};
use oauth_core::params::Params;
use oauth_core::server::{Authentication, Authorize, Decision, Interaction, InteractionDetails};
use oauth_core::vocabulary::Subject;

use super::lists::query_parameter;
use super::page::{Does, rendered};
use super::problem::unavailable;
use super::route::Route;
use super::{App, Handled};
use crate::desk::User;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    client: &'a str,
    interaction: &'a str,
    email: &'a str,
    error: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentPage<'a> {
    client: &'a str,
    interaction: &'a str,
    email: &'a str,
    scopes: Vec<ScopeShown<'a>>,
}

struct ScopeShown<'a> {
    name: &'a str,
    meaning: &'static str,
}

fn meaning(scope: &str) -> &'static str {
    match scope {
        "openid" => "Know who you are",
        "email" => "See your email address",
        "profile" => "See your name",
        "read:charges" => "See charges, refunds and customers",
        "write:charges" => "Create and change charges and customers",
        "write:refunds" => "Give money back",
        _ => "Use the scope",
    }
}

impl App {
    pub(super) async fn authorize(&self, request: Request<Bytes>) -> Handled {
        let method = request.method().clone();
        let interaction = match self.server.authorize(request).await {
            Authorize::Respond(answer) => return Ok(self.told(answer)),
            Authorize::Interact(interaction) => interaction,
        };
        self.tell(&interaction.events);
        if let Some(email) = &self.sign_in_as {
            let user = self
                .desk
                .user_by_email(email)
                .await
                .map_err(|error| self.refused(error))?;
            // the user was there when the service was opened
            let user = user.ok_or_else(unavailable)?;
            let decision = granted(&user, self.clock.now())?;
            let answer = self
                .server
                .resume(&method, &interaction.id, interaction.browser.expose(), decision)
                .await;
            return Ok(self.told(answer));
        }
        Ok(self.to_login(&interaction))
    }

    fn to_login(&self, interaction: &Interaction) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let headers = response.headers_mut();
        CacheControl::no_store().apply(headers);
        let location = format!("/login?interaction={}", interaction.id);
        let cookie = self.cookie(&interaction.id, interaction.browser.expose(), 600);
        for (name, value) in [(LOCATION, location), (SET_COOKIE, cookie)] {
            // base64url in a template, so always a field value
            headers.extend(HeaderValue::try_from(value).ok().map(|value| (name, value)));
        }
        response
    }

    /// The cookie of one sign-in, so that two in one browser do not disturb each other. The prefix keeps other hosts from
    /// setting it; browsers take it over TLS alone.
    fn cookie_name(&self, interaction: &str) -> String {
        let prefix = if self.serves_tls() { "__Host-" } else { "" };
        format!("{prefix}interaction-{interaction}")
    }

    fn cookie(&self, interaction: &str, value: &str, max_age: u32) -> String {
        let secure = if self.serves_tls() { "; Secure" } else { "" };
        let name = self.cookie_name(interaction);
        format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age={max_age}{secure}")
    }

    fn serves_tls(&self) -> bool {
        self.base_url.starts_with("https:")
    }

    /// The pages of a sign-in.
    pub(super) async fn sign_in(&self, route: &Route, request: &Request<Bytes>) -> Handled {
        match route {
            Route::Consent => self.decide(request).await,
            _ if *request.method() == Method::GET => self.show_login(request).await,
            _ => self.log_in(request).await,
        }
    }

    async fn show_login(&self, request: &Request<Bytes>) -> Handled {
        let id = query_parameter(request, "interaction").unwrap_or_default();
        let details = self.interaction(request, &id).await?;
        let email = details.login_hint.clone().unwrap_or_default();
        login_page(StatusCode::OK, &details, &id, &email, None)
    }

    async fn log_in(&self, request: &Request<Bytes>) -> Handled {
        let form = form(request)?;
        let field = |name: &str| form.optional(name).unwrap_or_default().to_owned();
        let (id, email) = (field("interaction"), field("email"));
        let details = self.interaction(request, &id).await?;
        let user = self
            .desk
            .authenticate(&email, field("password"))
            .await
            .map_err(|error| self.refused(error))?;
        let Some(user) = user else {
            let error = "Email and password do not match.";
            return login_page(
                StatusCode::UNPROCESSABLE_ENTITY,
                &details,
                &id,
                &email,
                Some(error),
            );
        };
        self.desk
            .begin_consent(&id, &user)
            .await
            .map_err(|error| self.refused(error))?;
        let page = ConsentPage {
            client: client_name(&details),
            interaction: &id,
            email: &user.email,
            scopes: details
                .scopes
                .iter()
                .map(|scope| scope.as_str())
                .map(|name| ScopeShown {
                    name,
                    meaning: meaning(name),
                })
                .collect(),
        };
        let leads_to = origin(details.redirect_uri.as_str());
        rendered(StatusCode::OK, &page, &Does::Send(vec![leads_to]))
    }

    async fn decide(&self, request: &Request<Bytes>) -> Handled {
        let form = form(request)?;
        let id = form.optional("interaction").unwrap_or_default();
        // the same browser first: nobody else can use up the sign-in
        self.interaction(request, id).await?;
        let signed_in = self
            .desk
            .end_consent(id)
            .await
            .map_err(|error| self.refused(error))?;
        let (user, auth_time) = signed_in.ok_or_else(gone)?;
        let decision = match form.optional("decision") {
            Some("allow") => granted(&user, auth_time)?,
            _ => Decision::Denied,
        };
        let browser = self.browser_secret(request, id).unwrap_or_default();
        let mut response = self.told(self.server.resume(&Method::POST, id, &browser, decision).await);
        let over = HeaderValue::try_from(self.cookie(id, "", 0)).ok();
        response
            .headers_mut()
            .extend(over.map(|cookie| (SET_COOKIE, cookie)));
        Ok(response)
    }

    /// The interaction of this id in this browser.
    async fn interaction(&self, request: &Request<Bytes>, id: &str) -> Result<InteractionDetails, Problem> {
        let browser = self.browser_secret(request, id).ok_or_else(gone)?;
        let details = self
            .server
            .interaction(id, &browser)
            .await
            .map_err(|_| unavailable())?;
        details.ok_or_else(gone)
    }

    /// The value of the interaction's cookie.
    fn browser_secret(&self, request: &Request<Bytes>, id: &str) -> Option<String> {
        let wanted = self.cookie_name(id);
        let cookies = request.headers().get_all(COOKIE).iter();
        cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == wanted)
            .map(|(_, value)| value.to_owned())
    }
}

/// Where a form's answer may lead, as a source of a Content-Security-Policy: the origin of the client's address, or its
/// scheme where the policy has no way to write the rest.
fn origin(uri: &str) -> String {
    let (scheme, rest) = uri.split_once(':').unwrap_or((uri, ""));
    let host = rest
        .strip_prefix("//")
        .and_then(|rest| rest.split(['/', '?', '#']).next())
        .filter(|host| !host.is_empty());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte);
    match host {
        Some(host) if host.bytes().all(plain) => format!("{scheme}://{host}"),
        _ => format!("{scheme}:"),
    }
}

fn gone() -> Problem {
    Problem::new(ErrorStatus::BAD_REQUEST)
        .with_detail("this sign-in has expired or was begun in another browser; go back to the application and start again")
}

fn form(request: &Request<Bytes>) -> Result<Params, Problem> {
    if !oauth_core::params::is_form(request.headers()) {
        return Err(Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE));
    }
    Params::parse(request.body())
        .map_err(|_| Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the form cannot be read"))
}

fn granted(user: &User, auth_time: std::time::SystemTime) -> Result<Decision, Problem> {
    let subject: Subject = user.subject.parse().map_err(|_| unavailable())?;
    let authentication = Authentication::new(subject, auth_time)
        .with_email(&user.email)
        .with_name(&user.name);
    Ok(Decision::Granted(authentication))
}

fn client_name(details: &InteractionDetails) -> &str {
    details
        .client_name
        .as_deref()
        .unwrap_or(details.client_id.as_str())
}

fn login_page(
    status: StatusCode,
    details: &InteractionDetails,
    id: &str,
    email: &str,
    error: Option<&str>,
) -> Handled {
    rendered(
        status,
        &LoginPage {
            client: client_name(details),
            interaction: id,
            email,
            error,
        },
        &Does::Send(Vec::new()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_may_lead_to_the_origin_of_its_client_and_nowhere_else() {
        for (uri, source) in [
            ("http://127.0.0.1:9999/callback?a=b", "http://127.0.0.1:9999"),
            ("https://app.example.com", "https://app.example.com"),
            ("http://[::1]:9/callback", "http:"),
            ("https://a;script-src *@b/", "https:"),
            ("com.example.app:/callback", "com.example.app:"),
        ] {
            assert_eq!(origin(uri), source, "{uri}");
        }
    }
}
