//! Middleware that requires an access token.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::{fmt, mem};

use axum::body::Body;
use axum::response::IntoResponse;
use futures_util::future::BoxFuture;
use http::header::{ACCESS_CONTROL_EXPOSE_HEADERS, HeaderName};
use http::request::Parts;
use http::{Request, Response};
use oauth_core::ports::{Clock, SystemClock};
use oauth_core::resource::{AuthenticatedToken, Challenge, ResourceServer};
use oauth_core::vocabulary::Scopes;
use tower_layer::Layer;
use tower_service::Service;

use crate::refusal::Refusal;
use crate::target::asked_for;

/// Tower middleware that requires a valid access token, and optionally scopes, for the routes of an
/// axum router.
///
/// It needs neither state nor a [`ConventionsLayer`](crate::ConventionsLayer), so that it fits an
/// existing service. Add it with `Router::route_layer`; routes that are added later stay open. A
/// handler gets the caller by `Extension<AuthenticatedToken>`.
///
/// - A request without a sufficient token gets the status and the headers of its [`Challenge`], and
///   a problem document as its body. The handler does not run.
/// - With [DPoP nonces](ResourceServer::with_dpop_nonces), the layer adds the next nonce to the
///   response of the handler.
/// - The time is that of the system ([`with_clock`](Self::with_clock)).
///
/// ```
/// use axum::{Extension, Router, routing::get};
/// use host_adapter_axum::AccessTokenLayer;
/// use oauth_core::resource::{AuthenticatedToken, ResourceServer};
///
/// async fn charges(Extension(caller): Extension<AuthenticatedToken>) -> String {
///     format!("the charges of {}", caller.subject())
/// }
///
/// fn router(api: ResourceServer) -> Result<Router, Box<dyn std::error::Error>> {
///     let guard = AccessTokenLayer::new(api)
///         .with_scopes("read:charges".parse()?)
///         .with_log(|challenge| eprintln!("{}", challenge.diagnosis()));
///     Ok(Router::new()
///         .route("/charges", get(charges))
///         .route_layer(guard)
///         .route("/health", get(async || "fine")))
/// }
/// ```
#[derive(Clone)]
pub struct AccessTokenLayer {
    guard: Arc<Guard>,
}

type Log = Arc<dyn Fn(&Challenge) + Send + Sync>;

#[derive(Clone)]
struct Guard {
    api: ResourceServer,
    scopes: Scopes,
    roles: Vec<String>,
    clock: Arc<dyn Clock>,
    log: Option<Log>,
}

impl AccessTokenLayer {
    /// Creates a middleware that requires a valid access token, with any scopes.
    #[must_use]
    pub fn new(api: ResourceServer) -> Self {
        let guard = Guard {
            api,
            scopes: Scopes::default(),
            roles: Vec::new(),
            clock: Arc::new(SystemClock),
            log: None,
        };
        Self {
            guard: Arc::new(guard),
        }
    }

    /// Requires all of these scopes. A token without them is refused with 403
    /// `insufficient_scope`.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        Arc::make_mut(&mut self.guard).scopes = scopes;
        self
    }

    /// Requires that the subject has this role, besides the roles of earlier calls. A token without
    /// it is refused with 403 `insufficient_scope`. The [issuer
    /// profile](ResourceServer::with_issuer_profile) names the claim of the roles.
    #[must_use]
    pub fn with_role(mut self, role: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.guard).roles.push(role.into());
        self
    }

    /// Sets a callback for the log, which is called for each refused request. The
    /// [diagnosis](Challenge::diagnosis) names the cause, which the response does not reveal.
    #[must_use]
    pub fn with_log(mut self, log: impl Fn(&Challenge) + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.guard).log = Some(Arc::new(log));
        self
    }

    /// Sets the clock. Default: the clock of the system.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        Arc::make_mut(&mut self.guard).clock = Arc::new(clock);
        self
    }
}

impl Guard {
    async fn authenticate(&self, parts: &mut Parts) -> Result<AuthenticatedToken, Challenge> {
        // a DPoP proof names the URI that the client requested
        let asked_for = asked_for(&parts.uri, &parts.extensions);
        let routed = mem::replace(&mut parts.uri, asked_for);
        let authenticated = self.api.authenticate(parts, self.clock.now()).await;
        parts.uri = routed;
        let caller = authenticated?;
        caller.require_all(&self.scopes)?;
        for role in &self.roles {
            caller.require_role(role)?;
        }
        Ok(caller)
    }
}

impl fmt::Debug for AccessTokenLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessTokenLayer")
            .field("api", &self.guard.api)
            .field("scopes", &self.guard.scopes)
            .field("roles", &self.guard.roles)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for AccessTokenLayer {
    type Service = WithAccessToken<S>;

    fn layer(&self, inner: S) -> Self::Service {
        WithAccessToken {
            layer: self.clone(),
            inner,
        }
    }
}

/// Service that requires an access token, made by [`AccessTokenLayer`].
#[derive(Clone, Debug)]
pub struct WithAccessToken<S> {
    layer: AccessTokenLayer,
    inner: S,
}

impl<S> Service<Request<Body>> for WithAccessToken<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Future: Send> + Clone + Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // the service that was polled ready is the one to call
        let next = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, next);
        let guard = Arc::clone(&self.layer.guard);
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let caller = match guard.authenticate(&mut parts).await {
                Ok(caller) => caller,
                Err(challenge) => {
                    if let Some(log) = &guard.log {
                        log(&challenge);
                    }
                    return Ok(Refusal::from(challenge).into_response());
                }
            };
            let next_nonce = caller.headers();
            parts.extensions.insert(caller);
            let mut response = inner.call(Request::from_parts(parts, body)).await?;
            for (name, value) in &next_nonce {
                set_header(response.headers_mut(), name, value);
            }
            Ok(response)
        })
    }
}

/// Sets a header of the next nonce, and keeps the headers that the handler exposes.
fn set_header(headers: &mut http::HeaderMap, name: &HeaderName, value: &http::HeaderValue) {
    if name == ACCESS_CONTROL_EXPOSE_HEADERS {
        headers.append(name, value.clone());
    } else {
        headers.insert(name, value.clone());
    }
}
