//! Middleware that applies the conventions to any tower service.

use std::{error::Error, mem, panic::AssertUnwindSafe, pin::Pin};
use std::{task::Context, task::Poll};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use host_server::{RunsToEnd, Work, read_on};
use http::{Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, Either, Full, Limited};
use http_conventions::errors::{ErrorStatus, Problem, is_problem};
use http_conventions::pipeline::{Admitted, Conventions, Exchange};
use tower_layer::Layer;
use tower_service::Service;

use crate::nonce::NextNonce;
use crate::target::asked_for;

/// Size limit of a problem that the layer completes, in bytes; a larger one passes unchanged.
const LARGEST_PROBLEM: u64 = 64 << 10;

type BoxError = Box<dyn Error + Send + Sync>;

/// Tower middleware that applies [`Conventions`] to all requests of a service.
///
/// Add it to a whole router with `Router::layer`, as the last layer.
///
/// - The layer checks and admits each request before it calls the service.
/// - It adds the headers of the conventions to each response: those of the service, a 404, 405 or
///   rejection of axum, and the 500 of a panic.
/// - An `OPTIONS` request without a handler gets 204 with `Allow`.
/// - Content is cut off at the [size limit](http_conventions::content::SizeLimits); the extractors
///   of axum then answer 413.
/// - Problems name the URI that the client requested, also if the layer is inside a nested router.
///
/// Authentication, rate limits, idempotency keys and preconditions are applied by the handler,
/// through the exchange that [`Admission`] extracts. A rule for many routes, such as a rate limit
/// by address, is a function for axum's `middleware::from_fn`:
///
/// ```
/// use std::net::SocketAddr;
/// use std::sync::Arc;
///
/// use host_adapter_axum::{Admission, Refusal};
/// use axum::extract::{ConnectInfo, Request, State};
/// use axum::{body::Body, middleware::Next, response::Response};
/// use http_conventions::limits::{client_network, Policy};
///
/// async fn limit_by_address(
///     State(policy): State<Arc<Policy>>,
///     ConnectInfo(peer): ConnectInfo<SocketAddr>,
///     Admission(exchange): Admission,
///     request: Request,
///     next: Next,
/// ) -> Result<Response, Refusal> {
///     let address = client_network(peer.ip()).to_string();
///     let exchange = exchange.limit(&[policy.spend(&address)]).await?;
///     let answer = next.run(request).await;
///     Ok(exchange.finish_as(Ok(answer), Body::from))
/// }
/// ```
///
/// # Cancellation
///
/// A server drops the handler of a client that left. The rest of a request with an unsafe method
/// ([RFC 9110 §9.2.1]) then runs to its end in a task of its own, so that the outcome of its
/// idempotency key is recorded. The shutdown of [`serve_router`](crate::serve_router) waits for it.
/// Set task-local values, such as the span of a log, in a layer inside this one.
///
/// [`Admission`]: crate::Admission
/// [RFC 9110 §9.2.1]: https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1
#[derive(Clone, Debug)]
pub struct ConventionsLayer(Conventions);

impl ConventionsLayer {
    /// Creates the middleware.
    #[must_use]
    pub const fn new(conventions: Conventions) -> Self {
        Self(conventions)
    }
}

impl<S> Layer<S> for ConventionsLayer {
    type Service = WithConventions<S>;

    fn layer(&self, inner: S) -> Self::Service {
        WithConventions {
            conventions: self.0.clone(),
            inner,
        }
    }
}

/// Service with [`Conventions`] applied, made by [`ConventionsLayer`].
#[derive(Clone, Debug)]
pub struct WithConventions<S> {
    conventions: Conventions,
    inner: S,
}

impl<S, B, C> Service<Request<B>> for WithConventions<S>
where
    S: Service<Request<Limited<B>>, Response = Response<C>, Error: Send, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Body<Error: Into<BoxError>> + Send + 'static,
    C: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Either<C, Full<Bytes>>>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // the service that was polled ready is the one to call
        let next = self.inner.clone();
        let inner = mem::replace(&mut self.inner, next);
        Box::pin(answer(self.conventions.clone(), inner, request))
    }
}

async fn answer<S, B, C>(
    conventions: Conventions,
    mut inner: S,
    mut request: Request<B>,
) -> Result<Response<Either<C, Full<Bytes>>>, S::Error>
where
    S: Service<Request<Limited<B>>, Response = Response<C>, Error: Send, Future: Send> + Send + 'static,
    B: Body<Error: Into<BoxError>> + Send + 'static,
    C: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let asked_for = asked_for(request.uri(), request.extensions());
    let routed = mem::replace(request.uri_mut(), asked_for);
    let admitted = conventions.begin(&request).admit(&request);
    *request.uri_mut() = routed;
    let mut exchange = match admitted {
        Ok(exchange) => exchange,
        Err(early) => {
            let (parts, content) = request.into_parts();
            read_on(&parts.headers, content).await;
            return Ok(early.into_response().map(whole));
        }
    };
    let method = request.method().clone();
    let cap = usize::try_from(conventions.size_limits().content()).unwrap_or(usize::MAX);
    let mut request = request.map(|body| Limited::new(body, cap));
    request.extensions_mut().insert(exchange.clone());
    let work = request.extensions().get::<Option<Work>>().cloned().flatten();
    let next_nonce = NextNonce::default();
    request.extensions_mut().insert(next_nonce.clone());
    let handled = AssertUnwindSafe(async move { inner.call(request).await }).catch_unwind();
    let outcome = match method.is_safe() {
        true => handled.await,
        false => {
            let rest_of = move |handled: Pin<Box<_>>| {
                tokio::spawn(async move {
                    let _outcome = handled.await;
                    drop(work);
                });
            };
            RunsToEnd::new(handled, rest_of).await
        }
    };
    next_nonce.hand_out(&mut exchange);
    match outcome {
        Ok(Ok(answer)) => Ok(finish(exchange, &method, answer).await),
        Ok(Err(error)) => Err(error),
        Err(_panic) => {
            let problem = Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR);
            Ok(exchange.refuse(problem).into_response().map(whole))
        }
    }
}

async fn finish<C>(
    exchange: Exchange<Admitted>,
    method: &Method,
    mut answer: Response<C>,
) -> Response<Either<C, Full<Bytes>>>
where
    C: Body<Data = Bytes, Error: Into<BoxError>>,
{
    if *method == Method::OPTIONS && answer.status() == StatusCode::METHOD_NOT_ALLOWED {
        let mut options = Response::new(Bytes::new());
        *options.status_mut() = StatusCode::NO_CONTENT;
        // in a router, axum adds `Allow` after this layer
        if let Some(allow) = answer.headers_mut().remove(header::ALLOW) {
            options.headers_mut().insert(header::ALLOW, allow);
        }
        return exchange.finish(Ok(options)).map(whole);
    }
    if !is_problem(&answer) || !is_at_hand(answer.body()) {
        return exchange.finish_as(Ok(answer.map(Either::Left)), whole);
    }
    let (parts, content) = answer.into_parts();
    let outcome = match content.collect().await {
        Ok(content) => Ok(Response::from_parts(parts, content.to_bytes())),
        Err(_broken) => Err(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR)),
    };
    exchange.finish(outcome).map(whole)
}

/// Returns `true` for content of known, small size; a stream is not completed.
fn is_at_hand(content: &impl Body) -> bool {
    let length = content.size_hint().upper();
    length.is_some_and(|length| length <= LARGEST_PROBLEM)
}

fn whole<C>(content: Bytes) -> Either<C, Full<Bytes>> {
    Either::Right(Full::new(content))
}
