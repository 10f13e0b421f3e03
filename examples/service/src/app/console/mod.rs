//! The console: pages about charges, webhooks, requests and applications.
//!
//! A page of the console shows data to a signed-in user only; a browser without a session is sent
//! to the sign-in and comes back. Every signed-in user sees the whole desk, because each could
//! allow an application every scope of it. Pages work without JavaScript: lists are GET and can be
//! bookmarked, changes are POST with the CSRF token of the browser and an idempotency key.

mod applications;
#[cfg(feature = "break-it")]
mod break_it;
mod calendar;
mod change;
mod charge;
mod charges;
mod chart;
mod customers;
mod deliveries;
mod effects;
mod endpoints;
mod explorer;
mod find;
mod health;
mod live;
mod overview;
mod pager;
mod place;
mod problems;
mod reference;
mod refunds;
mod refusal;
mod replays;
mod requests;
mod state;
mod text;
mod welcome;

use std::fmt::Write as _;

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::Problem;
use oauth_core::session::Session;

pub(super) use place::{Place, page_to_return_to};
pub(super) use refusal::refusal;

use super::browser::{Browser, see_other};
use super::page::{Capability, rendered};
use super::streams::OpenStreams;
use super::traffic::Traffic;
use super::{App, Config, Handled};
use crate::desk::User;

/// State of this process that pages show.
pub(super) struct ConsoleState {
    pub(super) traffic: Traffic,
    /// Streams of `/console/live`.
    streams: OpenStreams,
    #[cfg(feature = "break-it")]
    pub(super) faults: super::faults::InjectedFaults,
}

impl ConsoleState {
    #[cfg_attr(
        not(feature = "break-it"),
        expect(unused_variables, reason = "the configuration allows faults")
    )]
    pub(super) fn new(config: &Config) -> Self {
        Self {
            traffic: Traffic::default(),
            streams: OpenStreams::default(),
            #[cfg(feature = "break-it")]
            faults: super::faults::InjectedFaults::new(config.allow_faults),
        }
    }

    /// Returns `true` if the page of faults exists.
    const fn has_faults(&self) -> bool {
        #[cfg(feature = "break-it")]
        return self.faults.is_allowed;
        #[cfg(not(feature = "break-it"))]
        return false;
    }
}

/// Values that the layout of a page needs.
struct Frame {
    /// Word of the chosen place.
    place: &'static str,
    /// Name of the signed-in user; empty without one.
    user: String,
    /// Number of deliveries that need attention.
    attention: u64,
    /// The page of faults exists.
    has_faults: bool,
    /// The example client exists.
    has_demo: bool,
}

impl Frame {
    /// Frame of a public page.
    const fn public(place: &'static str, app: &App) -> Self {
        Self {
            place,
            user: String::new(),
            attention: 0,
            has_faults: false,
            has_demo: app.has_demo(),
        }
    }
}

/// Hidden fields of a form.
struct Ticket {
    csrf_token: String,
    /// Random: the form takes effect once, even if it is sent twice.
    idempotency_key: String,
}

/// A signed-in user at a browser.
struct Visitor {
    browser: Browser,
    session: Session,
    user: User,
}

impl Visitor {
    /// New hidden fields for one form.
    fn ticket(&self) -> Ticket {
        let mut idempotency_key = String::new();
        for byte in crate::random::<16>() {
            // writing to a string does not fail
            let _written = write!(idempotency_key, "{byte:02x}");
        }
        Ticket {
            csrf_token: self.browser.csrf_token(),
            idempotency_key,
        }
    }
}

impl App {
    /// Serves a page of the console.
    pub(super) async fn console(&self, place: &Place, request: &Request<Bytes>) -> Handled {
        let Some(visitor) = self.visitor(request).await? else {
            return match place {
                Place::Overview => self.show_welcome(),
                _ => Ok(see_other(&sign_in_for(request), None)),
            };
        };
        match place {
            Place::Overview => self.show_overview(&visitor).await,
            Place::Find => self.find(request).await,
            Place::Charges => self.show_charges(request, &visitor, None).await,
            Place::Charge(id) => self.show_charge(request, id, &visitor, None).await,
            Place::Refunds => self.show_refunds(request, &visitor).await,
            Place::Customers => self.show_customers(request, &visitor, None).await,
            Place::Endpoints => self.show_endpoints(&visitor, None).await,
            Place::Endpoint(id) => self.show_endpoint(request, id, &visitor, None).await,
            Place::Deliveries => self.show_deliveries(request, &visitor).await,
            Place::Delivery(id) => self.show_delivery(request, id, &visitor).await,
            Place::Replays => self.show_replays(request, &visitor, None).await,
            Place::Requests => self.show_requests(request, &visitor).await,
            Place::Request(id) => self.show_request(id, &visitor).await,
            Place::Applications => self.show_applications(request, &visitor).await,
            Place::Explorer => self.show_explorer(request, &visitor).await,
            Place::Schema => Self::show_schema(),
            Place::Reference => self.show_reference(&visitor).await,
            // targets of forms, and the stream
            _ => Err(Problem::of_status(StatusCode::METHOD_NOT_ALLOWED)),
        }
    }

    /// Signed-in user of the request.
    ///
    /// # Errors
    ///
    /// Returns 503 if a store fails.
    async fn visitor(&self, request: &Request<Bytes>) -> Result<Option<Visitor>, Problem> {
        let browser = self.browser(request.headers()).await?;
        let known = self.user_of(&browser).await?;
        let known = known.map(|(user, session)| (user, session.clone()));
        Ok(known.map(|(user, session)| Visitor {
            browser,
            session,
            user,
        }))
    }

    /// Frame of a page for this visitor.
    async fn frame(&self, place: &'static str, visitor: &Visitor) -> Result<Frame, Problem> {
        let attention = self.desk.failed_deliveries().await;
        Ok(Frame {
            place,
            user: visitor.user.name.clone(),
            attention: attention.map_err(|error| self.refused(error))?,
            has_faults: self.console_state.has_faults(),
            has_demo: self.has_demo(),
        })
    }
}

/// Renders a page with forms.
fn page(status: StatusCode, page: &impl Template) -> Handled {
    rendered(status, page, &Capability::Act)
}

/// Path of the sign-in that leads back to the page of the request.
fn sign_in_for(request: &Request<Bytes>) -> String {
    let target = request
        .uri()
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let target = page_to_return_to(target).unwrap_or("/");
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("return_to", target)
        .finish();
    format!("/login?{query}")
}
