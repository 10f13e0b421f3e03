//! The pipeline around any tower service.

use std::{any::Any, error::Error, mem, panic::AssertUnwindSafe, pin::pin};
use std::{task::Context, task::Poll};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, Either, Full, Limited};
use http_conventions::errors::{ErrorStatus, Problem, is_problem};
use http_conventions::pipeline::{Admitted, Conventions, Exchange};
use tokio::time::timeout;
use tower_layer::Layer;
use tower_service::Service;

use crate::content::LINGER;
use crate::nonce::NextNonce;
use crate::target::asked_for;

/// The largest problem that is completed; one of the host's own is far smaller.
const LARGEST_PROBLEM: u64 = 64 << 10;

type BoxError = Box<dyn Error + Send + Sync>;

/// Takes the requests of a tower service through [`Conventions`]: of a whole router, by `Router::layer`. What it says of a request is
/// of the URI that the client asked for, also within a router that is nested.
///
/// A request is begun and admitted before the service sees it, and every answer is finished: the service's own, a 404, 405
/// or rejection of axum, and the 500 of a panic. An `OPTIONS` for which there is no handler is a 204 that says what there is.
/// Content is cut off at the [size limit](http_conventions::content::SizeLimits), which extractors of axum answer by 413.
///
/// Authentication, limits, replays and preconditions are what a handler asks of the exchange, which [`Admission`] gives it.
/// What many routes share, as a limit by address, is a function for axum's `middleware::from_fn`:
///
/// ```
/// use std::net::SocketAddr;
/// use std::sync::Arc;
///
/// use host_adapter_axum::{Admission, Refusal};
/// use axum::{body::Body, extract::{ConnectInfo, Request, State}, middleware::Next, response::Response};
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
/// A server drops the handler of a client that left. What is not safe ([RFC 9110 §9.2.1]) runs to its end all the same, in a
/// task of its own: otherwise a change could be made and its idempotency key never know. So what a handler knows of its task,
/// as the span of a log, has to be set by a layer within this one.
///
/// [`Admission`]: crate::Admission
/// [RFC 9110 §9.2.1]: https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1
#[derive(Clone, Debug)]
pub struct ConventionsLayer(Conventions);

impl ConventionsLayer {
    /// Under these conventions.
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

/// A service under [`Conventions`], by a [`ConventionsLayer`].
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
        // the service that is ready is the one to call
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
            read_on(request).await;
            return Ok(early.into_response().map(whole));
        }
    };
    let method = request.method().clone();
    let cap = usize::try_from(conventions.size_limits().content()).unwrap_or(usize::MAX);
    let mut request = request.map(|body| Limited::new(body, cap));
    request.extensions_mut().insert(exchange.clone());
    let next_nonce = NextNonce::default();
    request.extensions_mut().insert(next_nonce.clone());
    let handled = AssertUnwindSafe(async move { inner.call(request).await }).catch_unwind();
    let outcome = match method.is_safe() {
        true => handled.await,
        false => detached(handled).await,
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

async fn detached<T: Send + 'static>(
    handled: impl Future<Output = Result<T, Box<dyn Any + Send>>> + Send + 'static,
) -> Result<T, Box<dyn Any + Send>> {
    // without a task there is a runtime that ends, and nobody who reads the answer
    tokio::spawn(handled)
        .await
        .unwrap_or_else(|ended| Err(Box::new(ended)))
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
        // in a router it comes after this layer
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

/// Whether a problem can be completed: it is no stream.
fn is_at_hand(content: &impl Body) -> bool {
    let length = content.size_hint().upper();
    length.is_some_and(|length| length <= LARGEST_PROBLEM)
}

fn whole<C>(content: Bytes) -> Either<C, Full<Bytes>> {
    Either::Right(Full::new(content))
}

/// Reads what is still being sent, though not for long. Nobody sends anything who waits to be told to.
async fn read_on<B: Body>(request: Request<B>) {
    if request.headers().contains_key(header::EXPECT) {
        return;
    }
    let mut content = pin!(request.into_body());
    let rest = async { while let Some(Ok(_)) = content.frame().await {} };
    timeout(LINGER, rest).await.ok();
}
