//! The first page of a browser without a session, and the example client.

use askama::Template;
use http::StatusCode;
use http_conventions::errors::{ErrorStatus, Problem};

use super::super::page::{Capability, rendered};
use super::super::{App, Handled};
use crate::seed::{EMAIL, PASSWORD};

#[derive(Template)]
#[template(path = "console/landing.html")]
struct Landing {
    /// Email address and password of the demo's user; `None` without the demo.
    demo: Option<(&'static str, &'static str)>,
    places: &'static [Address],
}

/// The example client: a page that calls the service as an OAuth client.
#[derive(Template)]
#[template(path = "client.html")]
struct ExampleClient {
    email: &'static str,
    password: &'static str,
    places: &'static [Address],
}

struct Address {
    path: &'static str,
    /// A browser can open the path as it is.
    opens: bool,
    what: &'static str,
}

impl Address {
    const fn new(path: &'static str, what: &'static str) -> Self {
        Self {
            path,
            opens: false,
            what,
        }
    }

    const fn opens(path: &'static str, what: &'static str) -> Self {
        Self {
            path,
            opens: true,
            what,
        }
    }
}

const ADDRESSES: &[Address] = &[
    Address::opens("/graphql", "GraphQL; in a browser, the explorer"),
    Address::new(
        "/authorize  /token",
        "authorization code with PKCE, refresh, client credentials",
    ),
    Address::new(
        "/oauth/introspect  /oauth/revoke",
        "token introspection and revocation",
    ),
    Address::new("/userinfo", "claims about the user of an access token"),
    Address::opens(
        "/.well-known/openid-configuration",
        "discovery; also oauth-authorization-server and jwks.json",
    ),
    Address::opens("/openapi.json", "machine-readable description of /v1"),
    Address::opens("/problems", "every problem type, its cause and its mend"),
    Address::new(
        "/v1/charges",
        "create, list, read, replace; refunds below each charge",
    ),
    Address::new("/v1/customers", "create, list, read"),
    Address::new(
        "/v1/webhook-endpoints",
        "register a receiver; its secret is shown once",
    ),
    Address::new(
        "/v1/webhook-deliveries",
        "status of each delivery; POST …/replays sends it again",
    ),
];

impl App {
    pub(super) fn show_welcome(&self) -> Handled {
        let page = Landing {
            demo: self.has_demo().then_some((EMAIL, PASSWORD)),
            places: ADDRESSES,
        };
        rendered(StatusCode::OK, &page, &Capability::Nothing)
    }

    /// Shows the example client, which is one of the demo's.
    pub(in super::super) fn show_client(&self) -> Handled {
        if !self.has_demo() {
            return Err(Problem::new(ErrorStatus::NOT_FOUND));
        }
        let page = ExampleClient {
            email: EMAIL,
            password: PASSWORD,
            places: ADDRESSES,
        };
        rendered(StatusCode::OK, &page, &Capability::Call)
    }
}
