//! Extractor of a verified webhook.

use std::{ops::Deref, time::Duration};

use axum::body::Body;
use axum::extract::{FromRef, FromRequest, Request};
use axum::response::Response;
use http::StatusCode;
use http_body_util::Limited;
use http_conventions::errors::Problem;
use webhook_core::receiver::{ClaimedEvent, Intake};

use crate::content::collect;
use crate::target::asked_for;

/// Time for a body, the default of [`Limits`](crate::Limits).
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// A verified event of the [`Intake`] in the state of the router, which no other request handles.
///
/// - The extractor reads the exact bytes of the body, verifies the signature, and claims the event.
///   Forged requests, duplicates and handshakes of the sender are answered and do not reach the
///   handler; route all methods to it with [`any`](axum::routing::any).
/// - The handler returns the response of [`finish`](Self::finish). If it returns another response,
///   the sender's next retry after the [lease] is handled again.
/// - [`WebhookLayer`](crate::WebhookLayer) does the same for a handler that is not changed.
///
/// [lease]: webhook_core::receiver::ReceiverBuilder::with_lease
///
/// ```
/// use axum::{Router, response::Response, routing::any};
/// use host_adapter_axum::Webhook;
/// use webhook_core::receiver::providers::STRIPE;
/// use webhook_core::{Intake, memory::MemoryClaims, ports::SystemClock};
///
/// async fn stripe(event: Webhook) -> Response {
///     println!("{}: {} bytes", event.id(), event.body().len());
///     event.finish().await
/// }
///
/// let verifier = STRIPE.verifier(["whsec_a_secret_of_the_dashboard"])?;
/// let intake = Intake::builder("stripe", verifier, MemoryClaims::default(), SystemClock).build()?;
/// let router: Router = Router::new().route("/stripe", any(stripe)).with_state(intake);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A service with several senders has a state for each of them, and merges their routers:
///
/// ```
/// use std::error::Error;
///
/// use axum::extract::{FromRef, State};
/// use axum::{Router, response::Response, routing::any};
/// use host_adapter_axum::Webhook;
/// use webhook_core::receiver::{Intake, Provider, providers};
/// use webhook_core::{memory::MemoryClaims, ports::SystemClock};
///
/// /// What all routes share, such as a pool of database connections.
/// #[derive(Clone, Debug, Default)]
/// struct App;
///
/// #[derive(Clone)]
/// struct Hook {
///     app: App,
///     intake: Intake,
/// }
///
/// impl FromRef<Hook> for Intake {
///     fn from_ref(hook: &Hook) -> Self {
///         hook.intake.clone()
///     }
/// }
///
/// async fn handle(State(hook): State<Hook>, event: Webhook) -> Response {
///     println!("{:?}: {}", hook.app, event.id());
///     event.finish().await
/// }
///
/// type Routed = Result<Router, Box<dyn Error>>;
///
/// fn route(path: &str, app: &App, from: Provider, secret: &str) -> Routed {
///     let (verifier, claims) = (from.verifier([secret])?, MemoryClaims::default());
///     let intake = Intake::builder(from.name(), verifier, claims, SystemClock).build()?;
///     let app = app.clone();
///     Ok(Router::new().route(path, any(handle)).with_state(Hook { app, intake }))
/// }
///
/// let app = App::default();
/// let stripe = route("/stripe", &app, providers::STRIPE, "whsec_a_secret_of_the_dashboard")?;
/// let github = route("/github", &app, providers::GITHUB, "the secret of a repository")?;
/// let router = stripe.merge(github);
/// # Ok::<(), Box<dyn Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "an event without `finish` is handled again"]
pub struct Webhook(pub ClaimedEvent);

impl Webhook {
    /// Records that the event was handled, and returns the response for the sender; see
    /// [`ClaimedEvent::finish`].
    pub async fn finish(self) -> Response {
        self.0.finish().await.map(Body::from)
    }
}

impl Deref for Webhook {
    type Target = ClaimedEvent;

    fn deref(&self) -> &ClaimedEvent {
        &self.0
    }
}

impl<S> FromRequest<S> for Webhook
where
    S: Send + Sync,
    Intake: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        accept(&Intake::from_ref(state), request).await.map(Self)
    }
}

/// Reads the body, verifies and claims the event; otherwise the response for the sender.
pub(crate) async fn accept(intake: &Intake, request: Request) -> Result<ClaimedEvent, Response> {
    let (mut parts, body) = request.into_parts();
    parts.uri = asked_for(&parts.uri, &parts.extensions);
    let body = Body::new(Limited::new(body, intake.body_limit()));
    let body = match collect(body, READ_TIMEOUT).await {
        Ok(body) => body,
        Err(StatusCode::PAYLOAD_TOO_LARGE) => return Err(intake.too_large().map(Body::from)),
        Err(status) => return Err(Problem::of_status(status).into_response().map(Body::from)),
    };
    let accepted = intake.accept(http::Request::from_parts(parts, body)).await;
    accepted.map_err(|response| response.map(Body::from))
}
