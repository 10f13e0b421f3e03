//! Middleware that runs a handler once for each `Idempotency-Key`.

use std::convert::Infallible;
use std::task::{Context, Poll};
use std::{fmt, mem, sync::Arc};

use axum::body::Body;
use axum::extract::{FromRequest, MatchedPath};
use axum::response::IntoResponse;
use futures_util::future::BoxFuture;
use http::{Request, Response, request::Parts};
use http_body_util::BodyExt;
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::idempotency::KeyScope;
use tower_layer::Layer;
use tower_service::Service;

use crate::extract::{Whole, exchange};
use crate::refusal::{Reason, Refusal};

/// Tower middleware that runs existing handlers once for each `Idempotency-Key`.
///
/// Add it to the routes of an axum router that change something. The handlers stay as they are. A
/// [`ConventionsLayer`](crate::ConventionsLayer) outside of it has the
/// [`Idempotency`](http_conventions::idempotency::Idempotency) with the store.
///
/// - A repeated request gets the stored response, and the handler does not run.
/// - The response of a handler is final, also if its status is an error, and is stored. A panic
///   counts as a [crash](http_conventions::idempotency::AfterCrash).
/// - A rejection of an extractor, such as that of `Json`, is stored as a problem without the text
///   of axum.
/// - A request with a safe method passes unchanged.
/// - The contents of the request and of the response are collected into memory, the request within
///   the limits of [`Whole`].
/// - The scope of a key is the principal, the method and the route, such as `/charges/{id}`.
/// - Without a `ConventionsLayer`, without its `Idempotency`, or without a principal, a request
///   gets 500 and the handler does not run.
///
/// A handler that frees its key, or that completes it in its own transaction, needs the exchange of
/// [`Admission`](crate::Admission) instead.
///
/// ```
/// use axum::{Json, Router, http::StatusCode, routing::post};
/// use host_adapter_axum::{ConventionsLayer, IdempotencyLayer};
/// use http_conventions::Conventions;
///
/// async fn create(Json(amount): Json<u32>) -> (StatusCode, Json<u32>) {
///     (StatusCode::CREATED, Json(amount))
/// }
///
/// fn router(conventions: Conventions) -> Router {
///     let once = IdempotencyLayer::new(|_| Some("shop-7".to_owned()));
///     Router::new()
///         .route("/charges", post(create).layer(once))
///         .layer(ConventionsLayer::new(conventions))
/// }
/// ```
#[derive(Clone)]
pub struct IdempotencyLayer {
    principal: Arc<FindPrincipal>,
}

type FindPrincipal = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl IdempotencyLayer {
    /// Creates the middleware. `principal` returns the authenticated caller of a request, for
    /// example from the request extensions where a layer outside of this one stored it:
    ///
    /// ```
    /// # #[cfg(feature = "oauth")] {
    /// use host_adapter_axum::IdempotencyLayer;
    /// use oauth_core::resource::AuthenticatedToken;
    ///
    /// let once = IdempotencyLayer::new(|parts| {
    ///     let caller = parts.extensions.get::<AuthenticatedToken>()?;
    ///     Some(caller.subject().to_string())
    /// });
    /// # }
    /// ```
    ///
    /// # Security
    ///
    /// The principal must come from authentication and include the tenant. If all callers share one
    /// principal, a caller that guesses a key reads the response of another caller.
    #[must_use]
    pub fn new(principal: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            principal: Arc::new(principal),
        }
    }
}

impl fmt::Debug for IdempotencyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyLayer").finish_non_exhaustive()
    }
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = WithIdempotency<S>;

    fn layer(&self, inner: S) -> Self::Service {
        WithIdempotency {
            layer: self.clone(),
            inner,
        }
    }
}

/// Service that runs once for each `Idempotency-Key`, made by [`IdempotencyLayer`].
#[derive(Clone, Debug)]
pub struct WithIdempotency<S> {
    layer: IdempotencyLayer,
    inner: S,
}

impl<S> Service<Request<Body>> for WithIdempotency<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // the service that was polled ready is the one to call
        let next = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, next);
        if request.method().is_safe() {
            return Box::pin(inner.call(request));
        }
        let principal = Arc::clone(&self.layer.principal);
        Box::pin(async move {
            let outcome = run_once(inner, request, &*principal).await;
            Ok(outcome.unwrap_or_else(IntoResponse::into_response))
        })
    }
}

async fn run_once<S>(
    mut inner: S,
    request: Request<Body>,
    principal: &FindPrincipal,
) -> Result<Response<Body>, Refusal>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send> + Send,
{
    let (parts, body) = request.into_parts();
    let exchange = exchange(&parts)?.clone();
    if !exchange.conventions().has_idempotency() {
        return Err(misconfigured(Reason::NoIdempotency));
    }
    let principal = principal(&parts).ok_or_else(|| misconfigured(Reason::NoPrincipal))?;
    let routed = parts.uri.clone();
    let Whole(request) = Whole::from_request(Request::from_parts(parts, body), &()).await?;
    let route = match request.extensions().get::<MatchedPath>() {
        Some(route) => route.as_str(),
        None => request.uri().path(),
    };
    let mut passed_on = request.clone().map(Body::from);
    *passed_on.uri_mut() = routed;
    let handler = async {
        let Ok(response) = inner.call(passed_on).await;
        let (parts, body) = response.into_parts();
        let broken = |_| Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR);
        let content = body.collect().await.map_err(broken)?.to_bytes();
        Ok::<_, Problem>(Response::from_parts(parts, content))
    };
    let scope = KeyScope::new(&principal, route);
    let exchange = exchange.skip_rate_limit();
    Ok(exchange.run(&request, scope, handler).await.map(Body::from))
}

fn misconfigured(reason: Reason) -> Refusal {
    Refusal::new(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR), reason)
}
