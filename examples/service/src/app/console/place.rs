//! Pages of the console and their paths.

use http::Method;

use crate::domain::ChargeId;

/// A page of the console, or the target of one of its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Place {
    Overview,
    Live,
    #[cfg(feature = "break-it")]
    BreakIt,
    #[cfg(feature = "break-it")]
    Receiver,
    Find,
    Charges,
    Charge(ChargeId),
    Refund(ChargeId),
    Refunds,
    Customers,
    Endpoints,
    Endpoint(String),
    EndpointForm(String, EndpointForm),
    Deliveries,
    Delivery(String),
    Replay(String),
    Replays,
    Requests,
    Request(String),
    Applications,
    ApplicationForm(ApplicationForm),
    Explorer,
    Schema,
    Operation,
    Estimate,
    Reference,
}

/// Forms of an endpoint's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum EndpointForm {
    Test,
    Rotate,
    Settings,
    State,
    Delete,
}

/// Forms of the applications page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ApplicationForm {
    Disconnect,
    RevokeFamily,
    EndSession,
}

impl Place {
    /// Parses the segments of a path. Returns `None` for another path.
    pub(in super::super) fn of(segments: &[&str]) -> Option<Self> {
        let segments = match segments {
            [""] => return Some(Self::Overview),
            ["console", rest @ ..] => rest,
            _ => return None,
        };
        let text = |id: &&str| (*id).to_owned();
        let place = match segments {
            ["live"] => Self::Live,
            #[cfg(feature = "break-it")]
            ["break-it"] => Self::BreakIt,
            #[cfg(feature = "break-it")]
            ["break-it", "receiver"] => Self::Receiver,
            ["find"] => Self::Find,
            ["charges"] => Self::Charges,
            ["charges", id] => Self::Charge(id.parse().ok()?),
            ["charges", id, "refunds"] => Self::Refund(id.parse().ok()?),
            ["refunds"] => Self::Refunds,
            ["customers"] => Self::Customers,
            ["endpoints"] => Self::Endpoints,
            ["endpoints", id] => Self::Endpoint(text(id)),
            ["endpoints", id, form] => Self::EndpointForm(
                text(id),
                match *form {
                    "test" => EndpointForm::Test,
                    "rotate" => EndpointForm::Rotate,
                    "settings" => EndpointForm::Settings,
                    "state" => EndpointForm::State,
                    "delete" => EndpointForm::Delete,
                    _ => return None,
                },
            ),
            ["deliveries"] => Self::Deliveries,
            ["deliveries", id] => Self::Delivery(text(id)),
            ["deliveries", id, "replay"] => Self::Replay(text(id)),
            ["replays"] => Self::Replays,
            ["requests"] => Self::Requests,
            ["requests", id] => Self::Request(text(id)),
            ["explorer"] => Self::Explorer,
            ["explorer", "schema"] => Self::Schema,
            ["explorer", "operation"] => Self::Operation,
            ["explorer", "estimate"] => Self::Estimate,
            ["reference"] => Self::Reference,
            ["applications"] => Self::Applications,
            ["applications", form] => Self::ApplicationForm(match *form {
                "disconnect" => ApplicationForm::Disconnect,
                "revoke-family" => ApplicationForm::RevokeFamily,
                "end-session" => ApplicationForm::EndSession,
                _ => return None,
            }),
            _ => return None,
        };
        Some(place)
    }

    /// Methods of the page.
    pub(in super::super) const fn methods(&self) -> &'static [Method] {
        match self {
            Self::Refund(_)
            | Self::EndpointForm(..)
            | Self::Replay(_)
            | Self::ApplicationForm(_)
            | Self::Operation
            | Self::Estimate => &[Method::POST, Method::OPTIONS],
            Self::Charges | Self::Customers | Self::Endpoints | Self::Replays => {
                &[Method::GET, Method::HEAD, Method::POST, Method::OPTIONS]
            }
            #[cfg(feature = "break-it")]
            Self::BreakIt => &[Method::GET, Method::HEAD, Method::POST, Method::OPTIONS],
            #[cfg(feature = "break-it")]
            Self::Receiver => &[Method::POST, Method::OPTIONS],
            // no HEAD: it would open a stream without a reader
            Self::Live => &[Method::GET, Method::OPTIONS],
            _ => &[Method::GET, Method::HEAD, Method::OPTIONS],
        }
    }

    /// Template of the path, for idempotency keys, logs and metrics.
    pub(in super::super) const fn template(&self) -> &'static str {
        match self {
            Self::Overview => "/",
            Self::Live => "/console/live",
            #[cfg(feature = "break-it")]
            Self::BreakIt => "/console/break-it",
            #[cfg(feature = "break-it")]
            Self::Receiver => "/console/break-it/receiver",
            Self::Find => "/console/find",
            Self::Charges => "/console/charges",
            Self::Charge(_) => "/console/charges/{id}",
            Self::Refund(_) => "/console/charges/{id}/refunds",
            Self::Refunds => "/console/refunds",
            Self::Customers => "/console/customers",
            Self::Endpoints => "/console/endpoints",
            Self::Endpoint(_) => "/console/endpoints/{id}",
            Self::EndpointForm(_, EndpointForm::Test) => "/console/endpoints/{id}/test",
            Self::EndpointForm(_, EndpointForm::Rotate) => "/console/endpoints/{id}/rotate",
            Self::EndpointForm(_, EndpointForm::Settings) => "/console/endpoints/{id}/settings",
            Self::EndpointForm(_, EndpointForm::State) => "/console/endpoints/{id}/state",
            Self::EndpointForm(_, EndpointForm::Delete) => "/console/endpoints/{id}/delete",
            Self::Deliveries => "/console/deliveries",
            Self::Delivery(_) => "/console/deliveries/{id}",
            Self::Replay(_) => "/console/deliveries/{id}/replay",
            Self::Replays => "/console/replays",
            Self::Requests => "/console/requests",
            Self::Request(_) => "/console/requests/{id}",
            Self::Explorer => "/console/explorer",
            Self::Schema => "/console/explorer/schema",
            Self::Operation => "/console/explorer/operation",
            Self::Estimate => "/console/explorer/estimate",
            Self::Reference => "/console/reference",
            Self::Applications => "/console/applications",
            Self::ApplicationForm(ApplicationForm::Disconnect) => "/console/applications/disconnect",
            Self::ApplicationForm(ApplicationForm::RevokeFamily) => "/console/applications/revoke-family",
            Self::ApplicationForm(ApplicationForm::EndSession) => "/console/applications/end-session",
        }
    }
}

/// The page to which a sign-in leads back: `text`, if it is the path of a page of the console, with
/// or without a query. A path of another site is none.
pub(in super::super) fn page_to_return_to(text: &str) -> Option<&str> {
    let (path, _) = text.split_once('?').unwrap_or((text, ""));
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let place = Place::of(&segments)?;
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    // a stream has no HEAD, and a form no GET
    (is_plain && place.methods().contains(&Method::HEAD)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X9: a sign-in leads back to pages of the console only.
    #[test]
    fn sign_in_returns_to_pages_of_the_console_only() {
        for (text, expected) in [
            ("/", true),
            ("/console/charges", true),
            ("/console/charges?status=refunded", true),
            ("/console/deliveries/a.b", true),
            ("/console/explorer?op=charge", true),
            ("/console/explorer/operation", false),
            ("", false),
            ("//evil.example", false),
            ("/\\evil.example", false),
            ("https://evil.example/", false),
            ("/console/charges\r\nx: y", false),
            ("/console/applications/disconnect", false),
            ("/console/live", false),
            ("/account", false),
            ("/console", false),
        ] {
            assert_eq!(page_to_return_to(text).is_some(), expected, "{text}");
        }
    }
}
