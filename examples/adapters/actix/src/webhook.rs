//! Extractor of a verified webhook.

use std::{fmt, future::Future, ops::Deref, pin::Pin, time::Duration};

use actix_web::{
    FromRequest, HttpRequest, HttpResponse, ResponseError, dev::Payload as Source, http as http02, web,
};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use webhook_core::receiver::{ClaimedEvent, Intake};

use crate::connection::collect;
use crate::convert::{answer, head, status};

/// Time limit of a body.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// A verified event of the [`Intake`] in the app's data, which no other request handles.
///
/// - The extractor reads the exact bytes of the body, verifies the signature, and claims the event.
///   Forged requests, duplicates and handshakes of the sender are answered and do not reach the
///   handler; route all methods to it.
/// - The handler returns the response of [`finish`](Self::finish). If it returns another response,
///   the sender's next retry is handled again.
///
/// ```
/// use actix_web::{App, HttpResponse, web};
/// use host_adapter_actix::Webhook;
/// use webhook_core::receiver::{Intake, providers::STRIPE};
/// use webhook_core::{memory::MemoryClaims, ports::SystemClock};
///
/// async fn stripe(event: Webhook) -> HttpResponse {
///     println!("{}: {} bytes", event.id(), event.body().len());
///     event.finish().await
/// }
///
/// let verifier = STRIPE.verifier(["whsec_a_secret_of_the_dashboard"])?;
/// let intake = Intake::builder("stripe", verifier, MemoryClaims::default(), SystemClock).build()?;
/// let app = App::new().app_data(web::Data::new(intake)).route("/stripe", web::to(stripe));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "an event without `finish` is handled again"]
pub struct Webhook(pub ClaimedEvent);

impl Webhook {
    /// Records that the event was handled, and returns the response for the sender; see
    /// [`ClaimedEvent::finish`].
    pub async fn finish(self) -> HttpResponse {
        answer(self.0.finish().await.map(Full::new))
    }
}

impl Deref for Webhook {
    type Target = ClaimedEvent;

    fn deref(&self) -> &ClaimedEvent {
        &self.0
    }
}

impl FromRequest for Webhook {
    type Error = WebhookRefusal;
    type Future = Pin<Box<dyn Future<Output = Result<Self, WebhookRefusal>>>>;

    fn from_request(request: &HttpRequest, source: &mut Source) -> Self::Future {
        let intake = request.app_data::<web::Data<Intake>>().cloned();
        let head = head(request.head(), None);
        let body = web::Payload::from_request(request, source).into_inner();
        Box::pin(async move {
            let refused = |status| WebhookRefusal(of_status(status));
            let intake = intake.ok_or_else(|| refused(StatusCode::INTERNAL_SERVER_ERROR))?;
            let head = head.ok_or_else(|| refused(StatusCode::BAD_REQUEST))?;
            let body = body.map_err(|_| refused(StatusCode::BAD_REQUEST))?;
            let body = collect(body, intake.body_limit(), READ_TIMEOUT).await;
            let body = body.map_err(|status| match status {
                StatusCode::PAYLOAD_TOO_LARGE => WebhookRefusal(intake.too_large()),
                status => refused(status),
            })?;
            let request = Request::from_parts(head.into_parts().0, body);
            intake.accept(request).await.map(Self).map_err(WebhookRefusal)
        })
    }
}

/// Response to a request that does not reach the handler of a [`Webhook`].
///
/// 500 means that the app has no [`Intake`] in its data.
pub struct WebhookRefusal(Response<Bytes>);

impl WebhookRefusal {
    /// The response; its extensions have the
    /// [`ReceiveOutcome`](webhook_core::receiver::ReceiveOutcome).
    #[must_use]
    pub fn response(&self) -> &Response<Bytes> {
        &self.0
    }
}

impl fmt::Debug for WebhookRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookRefusal({})", self.0.status())
    }
}

impl fmt::Display for WebhookRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the webhook was answered with {}", self.0.status())
    }
}

impl ResponseError for WebhookRefusal {
    fn status_code(&self) -> http02::StatusCode {
        status(self.0.status())
    }

    fn error_response(&self) -> HttpResponse {
        answer(self.0.clone().map(Full::new))
    }
}

fn of_status(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}
