//! The page for a browser that the authorization server must not redirect to a client.

use askama::Template;
use oauth_core::error::Reason;
use oauth_core::server::AuthorizationFault;

#[derive(Template)]
#[template(path = "console/authorize_error.html")]
struct AuthorizationRefused<'a> {
    advice: &'static str,
    code: &'static str,
    description: String,
    request_id: &'a str,
    /// Parameters of the request, shown on loopback only: they can be chosen by any link.
    sent: Option<Sent<'a>>,
}

struct Sent<'a> {
    client_id: &'a str,
    redirect_uri: &'a str,
}

/// Renderer of the error page. What the request contained is shown only if the service listens on
/// loopback.
pub(in super::super) fn refusal(
    base_url: &str,
) -> impl Fn(&AuthorizationFault) -> String + Send + Sync + use<> {
    let url = url::Url::parse(base_url).ok();
    let host = url.as_ref().and_then(url::Url::host);
    let on_loopback = match host {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    move |fault| {
        let of_redirect = matches!(
            fault.reason,
            Reason::RedirectUriMissing | Reason::RedirectUriNotRegistered
        );
        let sent = fault.client_id.as_ref().map(|client_id| Sent {
            client_id: client_id.as_str(),
            redirect_uri: fault.redirect_uri.as_deref().unwrap_or("none"),
        });
        let page = AuthorizationRefused {
            advice: advice(fault.reason),
            code: fault.reason.code(),
            description: fault.reason.description().to_owned(),
            request_id: fault.request_id.as_deref().unwrap_or_default(),
            sent: sent.filter(|_| on_loopback && of_redirect),
        };
        page.render().unwrap_or_default()
    }
}

/// Sentence for the person at the browser.
const fn advice(reason: Reason) -> &'static str {
    match reason {
        Reason::InteractionExpired
        | Reason::InteractionUnknown
        | Reason::RequestUriExpired
        | Reason::RequestUriSpent => {
            "The sign-in took too long, was completed before, or began in another browser. Go back to the application and start again."
        }
        Reason::ClientUnknown | Reason::ClientChanged => {
            "The application that sent you is not registered here."
        }
        Reason::RedirectUriMissing | Reason::RedirectUriNotRegistered => {
            "The application asked us to send you back to an address that is not registered for it."
        }
        Reason::StoreUnavailable | Reason::StoreCorrupt | Reason::SigningFailed => {
            "This service has a fault. Try again in a few minutes."
        }
        _ => "The application sent a request that cannot be answered.",
    }
}
