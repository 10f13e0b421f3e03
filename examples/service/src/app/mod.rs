//! The service as one framework-free handler from HTTP requests to responses.
//!
//! Each request passes the stages of [`http_conventions::pipeline`]: request id → size limits →
//! CORS preflight → version → route and method → requests in progress → rate limit by address →
//! authentication → rate limit by principal → scope → idempotency replay → preconditions → handler.
//! The pipeline finishes every response, including refusals. The adapters under `examples/adapters`
//! serve [`App::handle`], and refuse requests with [`App::refuse`].

mod account;
mod assets;
mod authority;
mod body;
mod browser;
mod caller;
mod certificates;
mod charges;
mod client_address;
mod clients;
mod console;
mod customers;
mod effects;
mod endpoint_bodies;
mod events;
mod fan_out;
#[cfg(feature = "break-it")]
mod faults;
mod graph;
mod guesses;
mod limits;
mod lists;
mod metrics;
mod observed;
pub(crate) mod open;
mod openapi;
mod operator;
mod origin;
mod page;
mod problem;
mod refunds;
mod resources;
mod route;
mod shared;
mod sign_in;
mod streams;
mod traced;
mod traffic;
mod webhook_deliveries;
mod webhook_endpoints;
mod work;

use std::collections::HashSet;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use graph_core::subscription::transport_ws::AllowedOrigins;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_conventions::content::{WANT_CONTENT_DIGEST, WANT_REPR_DIGEST, add_wanted_digests};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::forwarding::TrustedProxies;
use http_conventions::idempotency::Reply;
use http_conventions::paging::CursorKeyring;
use http_conventions::patching::ACCEPT_PATCH;
use http_conventions::pipeline::{Admitted, Conventions, EarlyResponse, Exchange, Limited, Started};
use http_conventions::routing::Allow;
use oauth_core::server::{AuthEvent, EndpointResponse};
use oauth_core::vocabulary::ClientId;
use oauth_core::{AuthorizationServer, Sessions};
use tokio::sync::watch;
use tracing::{Instrument as _, error};
use webhook_core::address::AddressPolicy;
use webhook_core::sender::Dispatcher;

use self::authority::RotatingAuthority;
use self::console::{ConsoleState, Place};
use self::effects::Effect;
use self::graph::Graph;
use self::limits::{Limiting, render_early_response};
use self::observed::{Findings, Observation};
use self::openapi::Document;
use self::operator::Operator;
use self::resources::{Answer, reply};
use self::route::Route;
use self::traffic::{Asked, Stage, Trail};
use crate::clock::DemoClock;
use crate::desk::{Desk, DeskError, HashingError};
use crate::mail::Mail;
use crate::stores::Stores;

pub use authority::AccessTokens;
pub use body::Body;
pub use limits::Limits;
pub use open::{Config, OpenError};

/// Result of a handler.
type Handled = Result<Response<Bytes>, Problem>;

/// Result of a handler that completes the idempotency key in its transaction.
type Completed = Result<Reply, Problem>;

/// The payments service as one framework-free request handler.
pub struct App {
    base_url: String,
    sign_in_as: Option<String>,
    clock: DemoClock,
    mail: Mail,
    desk: Desk,
    stores: Stores,
    authority: RotatingAuthority,
    /// Clients whose tokens are accepted; `None` for those of every client, with the demo.
    only_clients: Option<HashSet<ClientId>>,
    sessions: Sessions,
    console_state: ConsoleState,
    conventions: Conventions,
    operator: Operator,
    document: Document,
    limiting: Limiting,
    proxies: TrustedProxies,
    cursors: CursorKeyring,
    addresses: AddressPolicy,
    dispatcher: Dispatcher,
    graph: Graph,
    socket_origins: AllowedOrigins,
    redis: Option<host_store_redis::Database>,
    closing: watch::Sender<bool>,
    draining: watch::Sender<bool>,
    worked: watch::Sender<()>,
}

impl App {
    /// Returns `true` if the demo's user and clients are registered.
    const fn has_demo(&self) -> bool {
        self.only_clients.is_none()
    }

    /// Authorization server with the keys of the present time.
    fn server(&self) -> AuthorizationServer {
        self.authority.current().server.clone()
    }

    /// Handles one request.
    ///
    /// A server drops this future when its client disconnects. A request that changes state runs in
    /// a task of its own and completes anyway; otherwise a change could commit without its
    /// idempotency key.
    pub async fn handle(self: &Arc<Self>, mut request: Request<Bytes>) -> Response<Body> {
        if self.operator.takes(request.uri().path()) {
            return body::full(self.handle_operator(request).await);
        }
        #[cfg(feature = "break-it")]
        let droppable = self.droppable(&request);
        let asked = Asked::of(&mut request, self.clock.now());
        let exchange = self.conventions.begin(&request);
        let observation = Observation::begin(&self.operator.metrics, &self.proxies, &exchange, &request);
        let span = observation.span().clone();
        let findings = observation.findings().clone();
        let handled = self.handle_observed(exchange, request, findings.clone());
        let response = handled.instrument(span).await;
        observation.end(response.status());
        let response = match asked {
            Some(asked) => self.kept(asked, findings.take_effects(), response),
            None => response,
        };
        #[cfg(feature = "break-it")]
        if let Some(path) = droppable {
            return self.drop_answer(&path, response);
        }
        response
    }

    /// Adds the exchange to the last requests.
    fn kept(&self, asked: Asked, effects: Vec<Effect>, response: Response<Body>) -> Response<Body> {
        let (mut head, content) = response.into_parts();
        let whole = head.extensions.remove::<body::Content>();
        let response = Response::from_parts(head, ());
        let mut seen = asked.answered(&response, whole.as_ref().map(|whole| &whole.0), self.clock.now());
        seen.effects = effects;
        self.console_state.traffic.add(seen);
        response.map(|()| content)
    }

    async fn handle_observed(
        self: &Arc<Self>,
        exchange: Exchange<Started>,
        request: Request<Bytes>,
        findings: Findings,
    ) -> Response<Body> {
        let reader = page::accepts_html(&request);
        let trace = exchange.trace().cloned();
        let exchange = match exchange.admit(&request) {
            Ok(exchange) => exchange,
            Err(early) => return body::full(page::in_browser(reader, early.into_response())),
        };
        let last_resort = exchange.clone();
        let app = Arc::clone(self);
        let is_safe = request.method().is_safe();
        // on the heap, because each wrapper below would hold a copy of this large future
        let answered = Box::pin(async move { app.answered(exchange, request).await });
        let answered = observed::within(findings, traced::within(trace, answered)).in_current_span();
        let answered = match is_safe {
            true => AssertUnwindSafe(answered).catch_unwind().await.ok(),
            // `None` if the task panicked or the runtime ended
            false => tokio::spawn(answered).await.ok(),
        };
        answered.unwrap_or_else(|| {
            let broken = Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR);
            body::full(last_resort.refuse(broken).into_response())
        })
    }

    /// The desk, whose webhooks continue the trace of the request that the task handles.
    fn desk_in_trace(&self) -> Desk {
        self.desk.in_trace(traced::current())
    }

    /// Ends the open GraphQL subscriptions, so that a draining server does not wait for them.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Ends [`work`](Self::work) when the running deliveries are settled. Call it after the
    /// server has drained.
    pub fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// Returns the response to a request that the server itself refuses, for example because the
    /// request is too large, too slow or malformed.
    #[must_use]
    pub fn refuse(&self, head: &Request<()>, status: StatusCode) -> Response<Bytes> {
        let response = self.conventions.refuse(head, status).into_response();
        observed::record_refusal(&self.operator.metrics, head, &response);
        response
    }

    async fn answered(
        self: &Arc<Self>,
        exchange: Exchange<Admitted>,
        request: Request<Bytes>,
    ) -> Response<Body> {
        let reader = page::accepts_html(&request);
        let answered = self.routed(exchange, request).await;
        answered.unwrap_or_else(|early| body::full(page::in_browser(reader, early.into_response())))
    }

    async fn routed(
        self: &Arc<Self>,
        exchange: Exchange<Admitted>,
        mut request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyResponse> {
        client_address::record_client(&self.proxies, &mut request, exchange.id().as_str());
        certificates::record_certificate(&mut request);
        Trail::reach(&request, Stage::Route);
        let route = exchange.check(taken_route(&exchange, request.method()))?;
        if request.method() == Method::OPTIONS {
            Trail::reach(&request, Stage::Handler);
            return Ok(body::full(exchange.finish(Ok(options(&route)))));
        }
        Trail::reach(&request, Stage::Limit);
        let exchange = match self.limit_address(exchange, &route, &request).await {
            Ok(exchange) => exchange,
            Err(refused) => return Ok(body::full(render_early_response(&route, &request, refused))),
        };
        let after_limit = match route.is_resource() {
            true => Stage::Authorize,
            false => Stage::Handler,
        };
        Trail::reach(&request, after_limit);
        let read = request.method().is_safe().then(|| exchange.clone());
        let wanted = wanted_digests(request.headers());
        match route {
            Route::Graph => {
                let answered = pin!(self.answer_graph(exchange, request));
                self.in_time(read, answered).await
            }
            Route::GraphStream => self.answer_graph_stream(exchange, request).await,
            route if route.is_resource() => {
                let reader = page::accepts_html(&request);
                // a reference, because each future around it would hold a copy of its state
                let answered = pin!(self.answer_resource(exchange, &route, request));
                let answered = self.in_time(read, answered).await?;
                Ok(with_digests(&wanted, page::in_browser(reader, answered)))
            }
            Route::Console(Place::Operation) => self.run_explored(exchange, request).await,
            Route::Console(Place::Estimate) => self.estimate_explored(exchange, request).await,
            #[cfg(feature = "break-it")]
            Route::Console(place @ (Place::BreakIt | Place::Receiver)) => {
                let reader = page::accepts_html(&request);
                let handled = match place {
                    Place::BreakIt => self.break_it(&request).await,
                    _ => self.receive_webhook(&request).await,
                };
                Ok(body::full(page::in_browser(reader, exchange.finish(handled))))
            }
            Route::Console(Place::Live) => Ok(self.open_live(exchange, &request).await),
            Route::Console(place) if *request.method() == Method::POST => {
                Ok(body::full(self.change(exchange, &place, request).await))
            }
            route => {
                let reader = page::accepts_html(&request);
                let handled = self.answer(&exchange, route, request).await;
                let answered = page::in_browser(reader, exchange.finish(handled));
                Ok(with_digests(&wanted, answered))
            }
        }
    }

    async fn answer(&self, exchange: &Exchange<Limited>, route: Route, request: Request<Bytes>) -> Handled {
        let request = match route {
            // userinfo verifies DPoP proofs itself
            Route::UserInfo => request,
            _ => as_get(request),
        };
        match route {
            Route::Console(place) => self.console(&place, &request).await,
            Route::Client | Route::SignInCallback => self.show_client(),
            Route::Asset(asset) => self.show_asset(&exchange.preconditions(&request), asset),
            Route::Authorize => self.authorize(request).await,
            Route::EndSession => page::problem_as_page(&request, self.end_session(&request).await),
            Route::Login | Route::Consent => {
                page::problem_as_page(&request, self.sign_in(&route, &request).await)
            }
            Route::ForgottenPassword => page::problem_as_page(&request, self.forgotten(&request).await),
            Route::PasswordReset => page::problem_as_page(&request, self.reset(&request).await),
            Route::Account | Route::AccountForm(_) => {
                page::problem_as_page(&request, self.account(&route, &request).await)
            }
            Route::PushedRequests => Ok(self.log_and_return(self.server().par(request).await)),
            Route::Token => Ok(self.log_and_return(self.server().token(request).await)),
            Route::Introspect => Ok(self.log_and_return(self.server().introspect(request).await)),
            Route::Revoke => Ok(self.log_and_return(self.server().revoke(request).await)),
            Route::UserInfo => Ok(self.log_and_return(self.server().userinfo(request).await)),
            Route::ServerMetadata => Ok(self.server().metadata(&request)),
            Route::ResourceMetadata => Ok(self.authority.current().resources.metadata(&request)),
            Route::Jwks => Ok(self.server().jwks(&request)),
            Route::ProblemTypes => self.show_problem_types(),
            Route::ProblemType(slug) => self.show_problem_type(&slug),
            Route::Document => self.show_document(&exchange.preconditions(&request)),
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }

    /// Passes on a response of the authorization server and logs its events and failures.
    fn log_and_return(&self, answer: EndpointResponse) -> Response<Bytes> {
        self.log_events(&answer.events);
        if let Some(fault) = &answer.fault {
            error!(
                error = program::in_one_line(&**fault),
                "the authorization server failed"
            );
        }
        answer.response
    }

    fn log_events(&self, events: &[AuthEvent]) {
        for event in events {
            events::log_auth_event(event);
        }
    }

    /// Converts a failure of the desk to a problem. Causes in a store or in password hashing are
    /// logged, not sent.
    fn refused(&self, error: DeskError) -> Problem {
        let failed = matches!(error, DeskError::Store(_) | DeskError::Hashing(_));
        // `Busy` is not logged: many sign-ins at once would flood the log
        if failed && !matches!(error, DeskError::Hashing(HashingError::Busy)) {
            error!(error = program::in_one_line(&error), "the desk failed");
        }
        problem::from_desk(error, self.conventions.problems())
    }
}

/// Route of the request. The error is 404 for an unknown path and 405 for an unsupported method.
fn taken_route(exchange: &Exchange<Admitted>, method: &Method) -> Result<Route, Problem> {
    let route = Route::of(exchange.path(), exchange.version());
    let route = route.ok_or_else(|| Problem::new(ErrorStatus::NOT_FOUND))?;
    observed::record_route(route.label());
    match route.methods().contains(method) {
        true => Ok(route),
        false => Err(Problem::method_not_allowed(route.methods())),
    }
}

/// Fields of a request that ask for digests.
fn wanted_digests(headers: &HeaderMap) -> HeaderMap {
    let mut wanted = HeaderMap::new();
    for name in [WANT_CONTENT_DIGEST, WANT_REPR_DIGEST] {
        for value in headers.get_all(&name) {
            wanted.append(&name, value.clone());
        }
    }
    wanted
}

/// Adds the digests that the request asks for to a finished response.
fn with_digests(wanted: &HeaderMap, mut response: Response<Bytes>) -> Response<Body> {
    add_wanted_digests(wanted, &mut response);
    body::full(response)
}

/// Response to OPTIONS.
fn options(route: &Route) -> Response<Bytes> {
    let mut allowed = Allow::of(route.methods()).no_content();
    if let Some(formats) = route.accept_patch() {
        allowed.headers_mut().insert(ACCEPT_PATCH, formats);
    }
    allowed
}

/// Changes HEAD to GET; the server omits the body. DPoP proofs are verified before, with HEAD.
fn as_get(mut request: Request<Bytes>) -> Request<Bytes> {
    if request.method() == Method::HEAD {
        *request.method_mut() = Method::GET;
    }
    request
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}
