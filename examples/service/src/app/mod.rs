//! The service without a framework: one request in, one answer out.
//!
//! The order of each request: request id → route and method → limit of the address → sign-in → limit of the caller → scope → idempotent replay → preconditions → handler →
//! request id, on every exit. The adapters under `examples/` put a server around [`App::handle`].

mod account;
mod assets;
mod body;
mod browser;
mod caller;
mod charges;
mod console;
mod customers;
mod graph;
mod guesses;
mod limits;
mod lists;
pub(crate) mod open;
mod page;
mod problem;
mod refunds;
mod route;
mod sign_in;
mod webhooks;
mod work;

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_conventions::allow::Allow;
use http_conventions::idempotency::{Idempotency, Reply, Scope};
use http_conventions::pagination::CursorKeyring;
use http_conventions::ports::OsEntropy;
use http_conventions::problem::{ErrorStatus, Problem, ProblemBase};
use http_conventions::request_id::RequestId;
use oauth_core::resource::ResourceServer;
use oauth_core::server::{Answer, AuthEvent, AuthorizationServer};
use oauth_core::session::Sessions;
use store_sqlite::Database;
use tokio::sync::watch;
use webhook_core::address::AddressPolicy;
use webhook_core::sender::Dispatcher;

use self::caller::Caller;
use self::graph::Graph;
use self::limits::{Limiting, told};
use self::route::Route;
use crate::clock::DemoClock;
use crate::desk::{Desk, DeskError, HashingError};
use crate::mail::Mail;
use crate::with_sources;

pub use body::Body;
pub use limits::Limits;
pub use open::{Config, OpenError};

/// What a handler makes: an answer, or the problem that stands in its way.
type Handled = Result<Response<Bytes>, Problem>;

/// Where a line about what happened goes.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// The payments desk as one framework-free handler.
pub struct App {
    base_url: String,
    sign_in_as: Option<String>,
    clock: DemoClock,
    log: Log,
    mail: Mail,
    desk: Desk,
    database: Database,
    server: AuthorizationServer,
    sessions: Sessions,
    attempts: guesses::Attempts,
    resources: ResourceServer,
    idempotency: Idempotency,
    limiting: Limiting,
    cursors: CursorKeyring,
    problems: ProblemBase,
    addresses: AddressPolicy,
    dispatcher: Dispatcher,
    graph: Graph,
    closing: watch::Sender<bool>,
}

impl App {
    /// Answers one request.
    ///
    /// A server drops this future when its client leaves. What changes something is finished all the same, in a task of its
    /// own: otherwise the change could be made and its idempotency key never know.
    pub async fn handle(self: &Arc<Self>, request: Request<Bytes>) -> Response<Body> {
        if request.method().is_safe() {
            return self.answered(request).await;
        }
        let app = Arc::clone(self);
        let (parts, body) = request.into_parts();
        let head = Request::from_parts(parts.clone(), ());
        let request = Request::from_parts(parts, body);
        let answered = tokio::spawn(async move { app.answered(request).await });
        match answered.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(response) => response,
            Err(Ok(panic)) => resume_unwind(panic),
            Err(Err(_cancelled)) => body::full(Self::refuse(&head, StatusCode::SERVICE_UNAVAILABLE)),
        }
    }

    /// Ends the open subscriptions, so that a server that drains need not wait for them.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    async fn answered(&self, request: Request<Bytes>) -> Response<Body> {
        let id = RequestId::adopt(request.headers(), &OsEntropy);
        let path = request.uri().path().to_owned();
        let mut response = match self.routed(request, &id).await {
            Ok(response) => response,
            Err(problem) => body::full(problem.with_instance(path).with_request_id(&id).into_response()),
        };
        id.apply(response.headers_mut());
        response
    }

    /// The answer to a request that an adapter refuses by itself: too large, too slow, unreadable.
    #[must_use]
    pub fn refuse(head: &Request<()>, status: StatusCode) -> Response<Bytes> {
        let id = RequestId::adopt(head.headers(), &OsEntropy);
        let problem = Problem::of_status(status).with_instance(head.uri().path().to_owned());
        let mut response = problem.with_request_id(&id).into_response();
        id.apply(response.headers_mut());
        response
    }

    async fn routed(&self, mut request: Request<Bytes>, id: &RequestId) -> Result<Response<Body>, Problem> {
        guesses::note_source(&mut request);
        let route = Route::of(request.uri().path()).ok_or_else(|| Problem::new(ErrorStatus::NOT_FOUND))?;
        let allowed = route.methods();
        if !allowed.contains(request.method()) {
            return Err(Problem::method_not_allowed(allowed));
        }
        if request.method() == Method::OPTIONS {
            return Ok(body::full(Allow::of(allowed).no_content()));
        }
        // HEAD is GET without the content, which the server leaves out
        if request.method() == Method::HEAD {
            *request.method_mut() = Method::GET;
        }
        let standings = self.admit_address(&route, &request).await?;
        let handled = match route {
            Route::Graph => self.answer_graph(request, id).await,
            route => self.answer(route, request).await.map(body::full),
        };
        told(&standings, handled)
    }

    async fn answer(&self, route: Route, request: Request<Bytes>) -> Handled {
        match route {
            Route::Console | Route::SignInCallback => self.show_console(),
            Route::Asset(asset) => self.show_asset(&request, asset),
            Route::Authorize => self.authorize(request).await,
            Route::Login | Route::Consent => {
                page::told_to_people(&request, self.sign_in(&route, &request).await)
            }
            Route::ForgottenPassword => page::told_to_people(&request, self.forgotten(&request).await),
            Route::PasswordReset => page::told_to_people(&request, self.reset(&request).await),
            Route::Account | Route::AccountForm(_) => {
                page::told_to_people(&request, self.account(&route, &request).await)
            }
            Route::PushedRequests => Ok(self.told(self.server.par(request).await)),
            Route::Token => Ok(self.told(self.server.token(request).await)),
            Route::Introspect => Ok(self.told(self.server.introspect(request).await)),
            Route::Revoke => Ok(self.told(self.server.revoke(request).await)),
            Route::UserInfo => Ok(self.told(self.server.userinfo(request).await)),
            Route::ServerMetadata => Ok(self.server.metadata(&request)),
            Route::Jwks => Ok(self.server.jwks(&request)),
            Route::ProblemType(slug) => self.show_problem_type(&slug),
            route => self.answer_resource(route, request).await,
        }
    }

    /// A call of `/v1`: signed in, in scope, and at most once where it changes something.
    async fn answer_resource(&self, route: Route, request: Request<Bytes>) -> Handled {
        let (caller, request) = self.authenticated(request)?;
        let standings = self.admit_caller(&caller).await?;
        told(&standings, self.answer_caller(route, request, &caller).await)
    }

    async fn answer_caller(&self, route: Route, request: Request<Bytes>, caller: &Caller) -> Handled {
        self.require(caller, needed_scope(&route, request.method()))?;
        if *request.method() != Method::POST {
            return self.read_or_replace(route, &request, caller).await;
        }
        let scope = Scope::new(caller.subject(), route.template());
        let handler = async {
            let handled = self.act(&route, &request).await;
            reply(
                &route,
                handled.map_err(|problem| problem.with_instance(request.uri().path().to_owned())),
            )
        };
        self.idempotency.run(&request, scope, handler).await
    }

    async fn act(&self, route: &Route, request: &Request<Bytes>) -> Handled {
        match route {
            Route::Charges => self.create_charge(request).await,
            Route::Refunds(charge) => self.ask_for_refund(request, charge.clone()).await,
            Route::Customers => self.create_customer(request).await,
            Route::WebhookEndpoints => self.register_endpoint(request).await,
            Route::WebhookReplays(id) => self.replay_delivery(id).await,
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }

    async fn read_or_replace(&self, route: Route, request: &Request<Bytes>, caller: &Caller) -> Handled {
        match route {
            Route::Charges => self.list_charges(request, caller).await,
            Route::Charge(id) if *request.method() == Method::PUT => self.replace_charge(request, id).await,
            Route::Charge(id) => self.read_charge(request, id).await,
            Route::Refunds(charge) => self.list_refunds(request, charge, caller).await,
            Route::Refund(charge, id) => self.read_refund(charge, id).await,
            Route::Customers => self.list_customers(request, caller).await,
            Route::Customer(id) => self.read_customer(id).await,
            Route::WebhookEndpoint(id) => self.read_endpoint(&id).await,
            Route::WebhookDeliveries => self.list_deliveries(request, caller).await,
            Route::WebhookDelivery(id) => self.read_delivery(&id).await,
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }

    /// Passes an answer of the authorization server on, and what it says happened or broke to the log.
    fn told(&self, answer: Answer) -> Response<Bytes> {
        self.tell(&answer.events);
        if let Some(fault) = &answer.fault {
            (self.log)(&with_sources(&**fault));
        }
        answer.response
    }

    fn tell(&self, events: &[AuthEvent]) {
        for event in events {
            (self.log)(&format!("{event:?}"));
        }
    }

    /// What the peer is told of a refusal of the desk; why a store or the hashing failed goes to the log alone.
    fn refused(&self, error: DeskError) -> Problem {
        let failed = matches!(
            error,
            DeskError::Database(_) | DeskError::Store(_) | DeskError::Hashing(_)
        );
        // who floods the service with passwords would flood the log
        if failed && !matches!(error, DeskError::Hashing(HashingError::Busy)) {
            (self.log)(&with_sources(&error));
        }
        problem::of_desk(error, &self.problems)
    }
}

/// What an answer means for the key of its request: the desk's transactions are all or nothing, so that a 503 can be
/// tried again; what else the server could not do, nobody can say. The secret of a new endpoint is shown once, so its answer
/// is not kept.
fn reply(route: &Route, handled: Handled) -> Reply {
    match handled {
        Ok(response) if *route == Route::WebhookEndpoints => Reply::Unkept(response),
        Err(problem) if problem.status() == StatusCode::SERVICE_UNAVAILABLE => {
            Reply::NothingHappened(problem)
        }
        handled => handled.into(),
    }
}

/// The scope that a call of `/v1` needs.
fn needed_scope(route: &Route, method: &Method) -> &'static str {
    match (route, method) {
        (_, &Method::GET) => "read:charges",
        (Route::Refunds(_), _) => "write:refunds",
        _ => "write:charges",
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}
