//! Middleware that passes verified webhooks to existing handlers.

use std::convert::Infallible;
use std::mem;
use std::task::{Context, Poll};

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;
use webhook_core::receiver::Intake;

use crate::webhook::accept;

/// Tower middleware that passes each verified event once to the handler of a route.
///
/// It needs no state, and the handler is an ordinary one, so that it fits an existing service. Add
/// it to the method router of the webhook: with [`post`](axum::routing::post), or with
/// [`any`](axum::routing::any) for a sender whose handshake is a `GET`.
///
/// - Forged requests, duplicates and handshakes of the sender are answered and do not reach the
///   handler.
/// - The handler gets the exact bytes that were verified as the content of the request, for example
///   by `Json`, and the id of the event by `Extension<EventId>`.
/// - If the handler returns a 2xx, the event is recorded as handled, and the sender gets the
///   response that it expects in place of that of the handler.
/// - If the handler returns another status or panics, the sender's next retry after the [lease] is
///   handled again. A rejection of an extractor counts too: an event that a handler can never parse
///   is sent again until the sender gives up.
///
/// [`Webhook`](crate::Webhook) is the extractor for handlers that record the event themselves.
///
/// [lease]: webhook_core::receiver::ReceiverBuilder::with_lease
///
/// ```
/// use axum::{Json, Router, routing::post};
/// use host_adapter_axum::WebhookLayer;
/// use webhook_core::receiver::providers::STRIPE;
/// use webhook_core::{Intake, memory::MemoryClaims, ports::SystemClock};
///
/// async fn stripe(Json(event): Json<serde_json::Value>) {
///     println!("{}", event["type"]);
/// }
///
/// let verifier = STRIPE.verifier(["whsec_a_secret_of_the_dashboard"])?;
/// let intake = Intake::builder("stripe", verifier, MemoryClaims::default(), SystemClock).build()?;
/// let once = WebhookLayer::new(intake);
/// let router: Router = Router::new().route("/stripe", post(stripe).layer(once));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WebhookLayer(Intake);

impl WebhookLayer {
    /// Creates a middleware for the webhooks of one sender.
    #[must_use]
    pub const fn new(intake: Intake) -> Self {
        Self(intake)
    }
}

impl<S> Layer<S> for WebhookLayer {
    type Service = WithWebhook<S>;

    fn layer(&self, inner: S) -> Self::Service {
        WithWebhook {
            intake: self.0.clone(),
            inner,
        }
    }
}

/// Service that handles verified events, made by [`WebhookLayer`].
#[derive(Clone, Debug)]
pub struct WithWebhook<S> {
    intake: Intake,
    inner: S,
}

impl<S> Service<Request<Body>> for WithWebhook<S>
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
        let intake = self.intake.clone();
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            let verified = Request::from_parts(head.clone(), body);
            let event = match accept(&intake, verified).await {
                Ok(event) => event,
                Err(response) => return Ok(response),
            };
            head.extensions.insert(event.id().clone());
            let content = Body::from(event.body().clone());
            let response = inner.call(Request::from_parts(head, content)).await?;
            if !response.status().is_success() {
                return Ok(response);
            }
            Ok(event.finish().await.map(Body::from))
        })
    }
}
