//! Extractor of a whole request, for handlers of an app of actix-web.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use actix_web::{FromRequest, HttpRequest, HttpResponse, ResponseError, dev::Payload, http as http02, web};
use bytes::Bytes;
use http::{Request, StatusCode};

use crate::connection::collect;
use crate::convert::{head, status};

/// Size limit of a body in bytes, the default of [`Limits`](crate::Limits).
const BODY: usize = 1 << 20;

/// Time limit of a body, the default of [`Limits`](crate::Limits).
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The request with its content, in the form that the endpoints of the four crates take. The
/// handler converts their response with [`respond`](crate::respond).
///
/// - A body above 1 MiB is refused with 413. A [`Limits`](crate::Limits) in the app's data sets
///   another limit.
/// - The extractor reads the body. Another extractor of the same handler that reads it, such as
///   `web::Form`, finds none.
/// - A body that is not complete within 10 s, or the limit of these [`Limits`](crate::Limits), is
///   refused with 408.
///
/// ```
/// use actix_web::{App, HttpResponse, web};
/// use host_adapter_actix::{Whole, respond};
/// use http_body_util::Full;
///
/// async fn echo(Whole(request): Whole) -> HttpResponse {
///     respond(http::Response::new(Full::new(request.into_body())))
/// }
///
/// let app = App::new().route("/echo", web::to(echo));
/// # drop(app);
/// ```
#[derive(Clone, Debug)]
pub struct Whole(pub Request<Bytes>);

impl FromRequest for Whole {
    type Error = WholeRefusal;
    type Future = Pin<Box<dyn Future<Output = Result<Self, WholeRefusal>>>>;

    fn from_request(request: &HttpRequest, source: &mut Payload) -> Self::Future {
        let limits = request.app_data::<web::Data<crate::Limits>>();
        let (most, time) = limits.map_or((BODY, READ_TIMEOUT), |limits| (limits.body, limits.read_timeout));
        let head = head(request.head(), None);
        let body = web::Payload::from_request(request, source).into_inner();
        Box::pin(async move {
            let malformed = WholeRefusal(StatusCode::BAD_REQUEST);
            let (Some(head), Ok(body)) = (head, body) else {
                return Err(malformed);
            };
            let body = collect(body, most, time).await.map_err(WholeRefusal)?;
            Ok(Self(Request::from_parts(head.into_parts().0, body)))
        })
    }
}

/// Rejection of [`Whole`]: 400, 408 or 413 without content.
#[derive(Clone, Copy, Debug)]
pub struct WholeRefusal(StatusCode);

impl fmt::Display for WholeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request was refused with {}", self.0)
    }
}

impl ResponseError for WholeRefusal {
    fn status_code(&self) -> http02::StatusCode {
        status(self.0)
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}
