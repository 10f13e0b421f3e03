//! Requests of `/v1`: authentication, scope, idempotency and the handlers of the resources.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem, ProblemBase};
use http_conventions::idempotency::{HeldKey, IntoReply as _, KeyScope, Reply, Settlement};
use http_conventions::pipeline::{EarlyResponse, Exchange, Limited};

use super::caller::Caller;
use super::route::Route;
use super::traffic::{Stage, Trail};
use super::{App, Handled};

impl App {
    /// Handles a request of `/v1`: checks the scope, and runs a change at most once per idempotency
    /// key.
    pub(super) async fn answer_resource(
        &self,
        mut exchange: Exchange<Limited>,
        route: &Route,
        request: Request<Bytes>,
    ) -> Result<Response<Bytes>, EarlyResponse> {
        let (caller, request) = self.authenticated(&mut exchange, request).await?;
        let exchange = self.limit_caller(exchange, &caller).await?;
        exchange.check(self.require(&caller, needed_scope(route, request.method())))?;
        Trail::reach(&request, Stage::Idempotency);
        let scope = KeyScope::new(caller.subject(), route.template());
        let in_transaction = matches!(
            route,
            Route::Charges
                | Route::Refunds(_)
                | Route::Customers
                | Route::WebhookEndpoints
                | Route::WebhookRotations(_)
        );
        if in_transaction && *request.method() == Method::POST {
            let handler = async |held| self.create(route, &request, held).await;
            return Ok(exchange.run_in_transaction(&request, scope, handler).await);
        }
        let handler = async {
            Trail::reach(&request, Stage::Handler);
            let handled = match *request.method() {
                Method::POST => self.act(route).await,
                _ => self.read_or_replace(route, &request, &caller).await,
            };
            reply(handled, self.conventions.problems())
        };
        Ok(exchange.run(&request, scope, handler).await)
    }

    /// Creates a resource or a secret, and completes the idempotency key, in one transaction.
    async fn create(&self, route: &Route, request: &Request<Bytes>, held: Option<HeldKey>) -> Reply {
        Trail::reach(request, Stage::Handler);
        let completed = match route {
            Route::Charges => self.create_charge(request, held).await,
            Route::Refunds(charge) => self.request_refund(request, charge.clone(), held).await,
            Route::Customers => self.create_customer(request, held).await,
            Route::WebhookEndpoints => self.register_endpoint(request, held).await,
            Route::WebhookRotations(id) => self.rotate_secret(id, held).await,
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        };
        // after a 5xx the transaction may have committed: the record of the key shows if it has
        completed.into_reply(self.conventions.problems())
    }

    async fn act(&self, route: &Route) -> Handled {
        match route {
            Route::WebhookTestEvents(id) => self.send_test_event(id).await,
            Route::WebhookReplays(id) => self.replay_delivery(id).await,
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }

    async fn read_or_replace(&self, route: &Route, request: &Request<Bytes>, caller: &Caller) -> Handled {
        match route {
            Route::Charges => self.list_charges(request, caller).await,
            Route::Charge(id) if *request.method() == Method::PUT => {
                self.replace_charge(request, id.clone()).await
            }
            Route::Charge(id) if *request.method() == Method::PATCH => {
                self.patch_charge(request, id.clone()).await
            }
            Route::Charge(id) => self.read_charge(request, id.clone()).await,
            Route::Refunds(charge) => self.list_refunds(request, charge.clone(), caller).await,
            Route::Refund(charge, id) => self.read_refund(charge.clone(), id.clone()).await,
            Route::Customers => self.list_customers(request, caller).await,
            Route::Customer(id) => self.read_customer(id.clone()).await,
            Route::WebhookEndpoints => self.list_endpoints(request, caller).await,
            Route::WebhookEndpoint(id) => match *request.method() {
                Method::PATCH => self.change_endpoint(request, id).await,
                Method::DELETE => self.delete_endpoint(id).await,
                _ => self.read_endpoint(id).await,
            },
            Route::WebhookDeliveries => self.list_deliveries(request, caller).await,
            Route::WebhookDelivery(id) => self.read_delivery(id).await,
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }
}

/// A response, and the settlement of the idempotency key that is stored with its rows.
pub(super) struct Answer {
    pub(super) response: Response<Bytes>,
    pub(super) settlement: Option<Settlement>,
}

impl Answer {
    pub(super) fn new(response: Response<Bytes>, held: Option<&HeldKey>) -> Self {
        let settlement = held.map(|held| held.settlement(&response));
        Self { response, settlement }
    }

    /// As [`new`](Self::new), for a response with a secret that is shown once: only its status is
    /// stored.
    pub(super) fn unkept(mut response: Response<Bytes>, held: Option<&HeldKey>) -> Self {
        response.extensions_mut().insert(Unkept);
        let settlement = held.map(|held| held.unkept_settlement(&response));
        Self { response, settlement }
    }
}

/// Extension of a response that no retry gets, because only its status is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unkept;

/// Decides how the response is stored for its idempotency key. After a 503 a retry may run, because
/// the transactions of the desk are atomic. After any other 5xx the outcome is unknown.
pub(super) fn reply(handled: Handled, problems: &ProblemBase) -> Reply {
    match handled {
        Err(problem) if problem.status() == StatusCode::SERVICE_UNAVAILABLE => {
            Reply::NothingHappened(problem)
        }
        handled => handled.into_reply(problems),
    }
}

/// Scope that a request of `/v1` requires.
fn needed_scope(route: &Route, method: &Method) -> &'static str {
    match (route, method) {
        (_, &Method::GET) => "read:charges",
        (Route::Refunds(_), _) => "write:refunds",
        _ => "write:charges",
    }
}
