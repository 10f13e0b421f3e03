//! `/consent`: shows the requested scopes and takes the user's decision.

use askama::Template;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use oauth_core::AuthorizationServer;
use oauth_core::server::Consent;
use url::Url;

use super::super::browser::{form, missing_csrf_token, see_other};
use super::super::lists::query_parameter;
use super::super::page::{Capability, rendered};
use super::super::{App, Handled};
use super::{at, authentication, client_name, is_acceptable};

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentPage<'a> {
    client: &'a str,
    leads_to: &'a str,
    interaction: &'a str,
    csrf_token: &'a str,
    name: &'a str,
    email: &'a str,
    scopes: Vec<ScopeShown<'a>>,
}

struct ScopeShown<'a> {
    name: &'a str,
    meaning: &'static str,
}

fn meaning(scope: &str) -> &'static str {
    match scope {
        "openid" => "Identify you",
        "email" => "See your email address",
        "profile" => "See your name",
        "read:charges" => "See charges, refunds and customers",
        "write:charges" => "Create and change charges and customers",
        "write:refunds" => "Refund charges",
        _ => "Use the scope",
    }
}

impl App {
    pub(super) async fn show_consent(&self, request: &Request<Bytes>) -> Handled {
        let id = query_parameter(request, "interaction").unwrap_or_default();
        let server = self.server();
        let details = self.interaction(&server, request, &id).await?;
        let browser = self.browser(request.headers()).await?;
        let user = self.user_of(&browser).await?;
        let Some((user, session)) = user.filter(|(_, session)| is_acceptable(session, &details)) else {
            return Ok(see_other(&at("/login", &id), None));
        };
        let needed = server.needs_consent(&details, &session.record.subject).await;
        if !needed.map_err(|error| self.store_failed(&error))? {
            let remembered = Consent::Remembered(authentication(&user, &session.record));
            return Ok(self.return_to_client(&server, request, &id, remembered).await);
        }
        let leads_to = Destination::of(details.redirect_uri.as_str());
        let page = ConsentPage {
            client: client_name(&details),
            leads_to: &leads_to.shown,
            interaction: &id,
            csrf_token: &browser.csrf_token(),
            name: &user.name,
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
        rendered(StatusCode::OK, &page, &Capability::Send(vec![leads_to.source]))
    }

    pub(super) async fn decide(&self, request: &Request<Bytes>) -> Handled {
        let form = form(request)?;
        let id = form.optional("interaction").unwrap_or_default();
        // check the browser first, so that another one cannot consume the sign-in
        let server = self.server();
        self.interaction(&server, request, id).await?;
        let browser = self.browser(request.headers()).await?;
        if !browser.accepts_form(&form) {
            return Err(missing_csrf_token());
        }
        let Some((user, session)) = self.user_of(&browser).await? else {
            return Ok(see_other(&at("/login", id), None));
        };
        let decision = match form.optional("decision") {
            Some("allow") => Consent::Granted(authentication(&user, &session.record)),
            _ => Consent::Denied,
        };
        Ok(self.return_to_client(&server, request, id, decision).await)
    }

    /// Completes the interaction and redirects the browser to the client.
    async fn return_to_client(
        &self,
        server: &AuthorizationServer,
        request: &Request<Bytes>,
        id: &str,
        decision: Consent,
    ) -> Response<Bytes> {
        let browser = server.browser_secret(id, request.headers());
        let answer = server.resume(request, id, browser.expose(), decision).await;
        self.log_and_return(answer)
    }
}

/// Destination of the redirect to a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Destination {
    /// Text for the page: the origin of a web client, or the scheme of a native application.
    shown: String,
    /// Source for the Content-Security-Policy. A host that its grammar does not allow is replaced
    /// by its scheme.
    pub(super) source: String,
}

impl Destination {
    /// Parses a redirect URI as browsers do ([URL](https://url.spec.whatwg.org/#url-parsing)).
    pub(super) fn of(uri: &str) -> Self {
        let scheme = uri.split(':').next().unwrap_or_default();
        let web = Url::parse(uri).ok().filter(|url| url.origin().is_tuple());
        let origin = web.map(|url| url.origin().ascii_serialization());
        let host_source = |byte: u8| byte.is_ascii_alphanumeric() || b".-:/".contains(&byte);
        let source = origin.clone().filter(|origin| origin.bytes().all(host_source));
        let scheme = format!("{scheme}:");
        Self {
            shown: origin.unwrap_or_else(|| scheme.clone()),
            source: source.unwrap_or(scheme),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_form_may_redirect_to_client_origin_only() {
        for (uri, shown, source) in [
            (
                "http://127.0.0.1:9999/callback?a=b",
                "http://127.0.0.1:9999",
                "http://127.0.0.1:9999",
            ),
            (
                "https://app.example.com",
                "https://app.example.com",
                "https://app.example.com",
            ),
            ("http://[::1]:9/callback", "http://[::1]:9", "http:"),
            ("https://my_app.example/", "https://my_app.example", "https:"),
            (
                "https://app.example:8443?a",
                "https://app.example:8443",
                "https://app.example:8443",
            ),
            (
                "com.example.app:/callback",
                "com.example.app:",
                "com.example.app:",
            ),
            (
                "com.example.app://bank.example/",
                "com.example.app:",
                "com.example.app:",
            ),
        ] {
            let expected = Destination {
                shown: shown.to_owned(),
                source: source.to_owned(),
            };
            assert_eq!(Destination::of(uri), expected, "{uri}");
        }
    }

    /// User information in a redirect URI, which registration refuses, is never shown as the host.
    #[test]
    fn user_information_is_not_shown_as_host() {
        for uri in [
            "https://good.example@evil.example/",
            "https://good.example:443@evil.example/",
            "https://good.example%2F@evil.example/callback",
            "https://a;script-src *@evil.example/",
            "https://good.example&@evil.example?@good.example",
            "https://evil.example\\@good.example/",
            "https://EVIL.example#@good.example",
        ] {
            let Destination { shown, source } = Destination::of(uri);
            assert_eq!(shown, "https://evil.example", "{uri}");
            assert_eq!(source, shown, "{uri}");
        }
    }
}
