//! The console, a page that calls the service as a client, and the pages of the problem types.

use askama::Template;
use http::StatusCode;
use http_conventions::errors::{ErrorStatus, Problem};

use super::page::{Capability, ProblemPage, rendered};
use super::{App, Handled};
use crate::seed::{EMAIL, PASSWORD};

#[derive(Template)]
#[template(path = "console.html")]
struct Console {
    email: &'static str,
    password: &'static str,
    places: &'static [Place],
}

struct Place {
    path: &'static str,
    /// A browser can open the path as it is.
    opens: bool,
    what: &'static str,
}

const PLACES: &[Place] = &[
    Place {
        path: "/graphql",
        opens: true,
        what: "GraphQL; in a browser, the explorer",
    },
    Place {
        path: "/authorize  /token",
        opens: false,
        what: "authorization code with PKCE, refresh, client credentials",
    },
    Place {
        path: "/oauth/introspect  /oauth/revoke",
        opens: false,
        what: "token introspection and revocation",
    },
    Place {
        path: "/userinfo",
        opens: false,
        what: "claims about the user of an access token",
    },
    Place {
        path: "/.well-known/openid-configuration",
        opens: true,
        what: "discovery; also oauth-authorization-server and jwks.json",
    },
    Place {
        path: "/openapi.json",
        opens: true,
        what: "machine-readable description of /v1",
    },
    Place {
        path: "/v1/charges",
        opens: false,
        what: "create, list, read, replace; refunds below each charge",
    },
    Place {
        path: "/v1/customers",
        opens: false,
        what: "create, list, read",
    },
    Place {
        path: "/v1/webhook-endpoints",
        opens: false,
        what: "register a receiver; its secret is shown once",
    },
    Place {
        path: "/v1/webhook-deliveries",
        opens: false,
        what: "status of each delivery; POST …/replays sends it again",
    },
];

impl App {
    pub(super) fn show_console(&self) -> Handled {
        rendered(
            StatusCode::OK,
            &Console {
                email: EMAIL,
                password: PASSWORD,
                places: PLACES,
            },
            &Capability::Call,
        )
    }

    pub(super) fn show_problem_type(&self, slug: &str) -> Handled {
        let kinds = self.conventions.problem_types();
        let kind = kinds.iter().find(|kind| kind.slug() == slug);
        let kind = kind.ok_or_else(|| Problem::new(ErrorStatus::NOT_FOUND))?;
        let status = kind.status().status().as_u16();
        rendered(
            StatusCode::OK,
            &ProblemPage {
                title: kind.title(),
                status,
                description: kind.description(),
            },
            &Capability::Nothing,
        )
    }
}
