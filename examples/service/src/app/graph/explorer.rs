//! Operations of the console's explorer, with the session of the person at the browser.
//!
//! The session's cookie is sent by the browser itself, also with a request that another site makes.
//! Therefore three things must agree before an operation is read: the origin of the page, the
//! browser's own word on it, and a CSRF token in a header that only a page of this service knows.
//! There is no WebSocket here, because a browser sends no header of a script with it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use graph_core::error::ErrorCode;
use graph_core::http::GraphRequest;
use graph_core::limits::Estimate;
use graph_core::response::{GraphResponse, ResponseError};
use host_ports::Principal;
use http::{Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::pipeline::{EarlyResponse, Exchange, Limited};
use oauth_core::session::Session;
use serde::{Deserialize, Serialize};

use super::loss::Loss;
use super::schema::Context;
use super::streamed;
use crate::app::App;
use crate::app::body::{self, Body, full, json, whole};
use crate::app::browser::is_active;
use crate::app::open::SCOPES;
use crate::app::origin::is_own_page;
use crate::app::problem::unavailable;
use crate::app::traced;

/// Interval at which an open subscription checks that its session still exists.
const SESSION_CHECK: Duration = Duration::from_secs(5);

/// An operation whose size is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Typed {
    query: String,
    operation_name: Option<String>,
    #[serde(default)]
    variables: Option<juniper::Variables>,
}

/// Size of an operation, or what is wrong with its text.
#[derive(Serialize)]
struct Size {
    #[serde(flatten)]
    counts: Option<Counts>,
    errors: Vec<Wrong>,
}

#[derive(Serialize)]
struct Counts {
    cost: u64,
    depth: usize,
    aliases: usize,
    root_fields: usize,
}

#[derive(Serialize)]
struct Wrong {
    code: ErrorCode,
    message: String,
}

impl From<&Estimate> for Counts {
    fn from(estimate: &Estimate) -> Self {
        Self {
            cost: estimate.cost(),
            depth: estimate.depth(),
            aliases: estimate.aliases(),
            root_fields: estimate.root_fields(),
        }
    }
}

impl From<&ResponseError> for Wrong {
    fn from(error: &ResponseError) -> Self {
        Self {
            code: error.code(),
            message: error.message().to_owned(),
        }
    }
}

impl App {
    /// Runs an operation of the explorer as the user of the session; a subscription is a stream.
    pub(in crate::app) async fn run_explored(
        self: &Arc<Self>,
        exchange: Exchange<Limited>,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyResponse> {
        let session = exchange.check(self.session_of_explorer(&request).await)?;
        let exchange = self
            .limit_subject(exchange, session.record.subject.as_str())
            .await?;
        let principal = exchange.check(principal_of(&session))?;
        let loss = Loss::default();
        let context = self.explored_context(principal, &exchange, &loss);
        let end = self.end_of_session(session, loss);
        let answer = streamed(self.graph.respond(request, context).await, end);
        Ok(exchange.finish_as(Ok(answer), whole))
    }

    /// Responds with the size of an operation of the explorer, which does not run.
    pub(in crate::app) async fn estimate_explored(
        &self,
        exchange: Exchange<Limited>,
        request: Request<Bytes>,
    ) -> Result<Response<Body>, EarlyResponse> {
        let session = exchange.check(self.session_of_explorer(&request).await)?;
        let exchange = self
            .limit_subject(exchange, session.record.subject.as_str())
            .await?;
        let principal = exchange.check(principal_of(&session))?;
        if self.graph.has_only_trusted() {
            // no other document is parsed for clients
            return exchange.check(Err(Problem::new(ErrorStatus::NOT_FOUND)));
        }
        let typed: Typed = exchange.check(body::read_json(&request, self.conventions.problems()))?;
        let asked = GraphRequest::new(typed.query).with_variables(typed.variables.unwrap_or_default());
        let asked = match typed.operation_name {
            Some(name) => asked.with_operation_name(name),
            None => asked,
        };
        let context = self.explored_context(principal, &exchange, &Loss::default());
        let size = self.size(self.graph.estimate(&asked, &context));
        Ok(full(exchange.finish(Ok(json(StatusCode::OK, &size)))))
    }

    /// Context of an operation of the explorer, whose subscriptions are bounded by user.
    fn explored_context<S>(&self, principal: Principal, exchange: &Exchange<S>, loss: &Loss) -> Context {
        let quota = self.graph.quota(principal.subject());
        let context = self
            .graph
            .context(loss, Some(quota), exchange.trace().and_then(traced::parent));
        let context = context.with_correlation_id(exchange.id().as_str());
        context.with_principal(principal)
    }

    fn size(&self, estimated: Result<Estimate, GraphResponse>) -> Size {
        match estimated {
            Ok(estimate) => Size {
                counts: Some(Counts::from(&estimate)),
                errors: self
                    .graph
                    .limits()
                    .exceeded(&estimate)
                    .iter()
                    .map(Wrong::from)
                    .collect(),
            },
            Err(refused) => Size {
                counts: None,
                errors: refused.errors().iter().map(Wrong::from).collect(),
            },
        }
    }

    /// Session of a request that a page of this service makes.
    ///
    /// # Errors
    ///
    /// - 403 if another site may have made the request, or if the session has ended
    /// - 503 if the store fails
    async fn session_of_explorer(&self, request: &Request<Bytes>) -> Result<Session, Problem> {
        if !is_own_page(request, &self.base_url) {
            let detail = format!("the explorer works at {} only", self.base_url);
            return Err(Problem::new(ErrorStatus::FORBIDDEN).with_detail(detail));
        }
        let headers = request.headers();
        let browser = self.browser(headers).await?;
        let session = browser.session().filter(|_| browser.accepts_header(headers));
        session.cloned().ok_or_else(|| {
            Problem::new(ErrorStatus::FORBIDDEN)
                .with_detail("the session has ended or changed; reload the page and sign in")
        })
    }

    /// Completes when a stream of this session must end: the session ends or expires, the store
    /// fails, updates may be lost, or the service stops.
    fn end_of_session(
        self: &Arc<Self>,
        session: Session,
        loss: Loss,
    ) -> impl Future<Output = ()> + Send + use<> {
        let stops = self.end_of_streams(Some(session.record.expires_at), loss);
        let app = Arc::clone(self);
        async move {
            let ended = async {
                loop {
                    app.clock.sleep_until(app.clock.now() + SESSION_CHECK).await;
                    if !is_active(&app.sessions, &session).await {
                        break;
                    }
                }
            };
            tokio::select! {
                () = ended => {}
                () = stops => {}
            }
        }
    }
}

/// The user of the session, with every scope: each user could allow an application all of them.
fn principal_of(session: &Session) -> Result<Principal, Problem> {
    let scopes = SCOPES.parse().map_err(|_| unavailable())?;
    Ok(Principal::new(session.record.subject.as_str()).with_scopes(scopes))
}
