//! HTTP endpoint of single connection mode.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde::Deserialize;

use super::Engine;
use super::root::{Root, SubscriptionRoot};
use crate::error::ErrorCode;
use crate::guard::RequestContext;
use crate::http::{self as wire, Exchange, HttpPolicy, HttpResponse, Refusal, Rendering};
use crate::subscription::OperationId;
use crate::subscription::sse::{EventStreams, Missing, Wanted};

impl<Q, M, S> Engine<Q, M, S>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    /// Executes an HTTP request for the endpoint of [single connection
    /// mode](crate::subscription::sse).
    ///
    /// # Contract
    ///
    /// `end` must complete when the credentials of `request` expire or the host shuts down. The
    /// engine then ends the stream that this GET opened, or the stream on which this POST started
    /// an operation. The client then opens a new stream.
    ///
    /// # Security
    ///
    /// - This method reads no credentials. The host authenticates the request and sets the
    ///   principal in `context`.
    /// - The principal of the PUT owns the stream. Requests of other principals get 404.
    pub async fn respond_single(
        &self,
        streams: &EventStreams,
        request: Request<Bytes>,
        context: RequestContext<Q::Host>,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> HttpResponse {
        let owner = context
            .principal()
            .map(|principal| principal.subject().to_owned());
        let token = token(&request);
        let wanted = streams.wanted(&token, owner.as_deref());
        match *request.method() {
            Method::PUT => HttpResponse::Full(reserved(wanted.reserve())),
            Method::GET => match self.inner.http.accepts(request.headers()) {
                Some(Rendering::EventStream) => match wanted.open(Box::pin(end)) {
                    Ok(events) => HttpResponse::Stream(wire::event_stream(events)),
                    Err(missing) => HttpResponse::Full(refused(missing)),
                },
                _ => HttpResponse::Full(unacceptable("only `text/event-stream` is served by GET")),
            },
            Method::POST => {
                let started = self.start(&wanted, &request, context, end).await;
                HttpResponse::Full(started.unwrap_or_else(|refused| refused))
            }
            Method::DELETE => HttpResponse::Full(stopped(&wanted, &request)),
            _ => {
                let refusal = Refusal::method(
                    "DELETE, GET, POST, PUT",
                    "an event stream supports DELETE, GET, POST and PUT only",
                );
                HttpResponse::Full(refusal.into_response(self.inner.http.profile))
            }
        }
    }

    async fn start(
        &self,
        wanted: &Wanted<'_>,
        request: &Request<Bytes>,
        context: RequestContext<Q::Host>,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Response<Bytes>, Response<Bytes>> {
        let profile = self.inner.http.profile;
        if self.inner.http.accepts(request.headers()).is_none() {
            return Err(unacceptable(UNACKNOWLEDGED));
        }
        let policy = HttpPolicy {
            body_limit: self.inner.http.body_limit.min(wanted.operation()),
            ..self.inner.http
        };
        let exchange = policy.read(request);
        let Exchange::Operation {
            request: operation,
            rendering: rendering @ (Rendering::Json | Rendering::GraphqlResponse),
            ..
        } = exchange.map_err(|refusal| self.refuse(refusal, profile))?
        else {
            return Err(unacceptable(UNACKNOWLEDGED));
        };
        let Some(id) = operation_id(request.body()) else {
            let refusal = Refusal::parameters("`extensions.operationId` is missing or too long");
            return Err(refusal.rendered(rendering).into_response(profile));
        };
        wanted.check(&id).map_err(refused)?;
        let prepared = match self.prepared(&operation, &context).await {
            Err(answer) if answer.is_request_error() => {
                let mut response = wire::json(answer, rendering, profile);
                if response.status().is_success() {
                    // clients treat any success status as an accepted operation
                    *response.status_mut() = StatusCode::BAD_REQUEST;
                }
                return Err(response);
            }
            // runs the checked document; a panic becomes an event, like any later failure
            prepared => prepared,
        };
        let responses = Box::pin(self.stream(prepared, operation.detached(), context));
        wanted.start(id, responses, Box::pin(end)).map_err(refused)?;
        Ok(wire::text(StatusCode::ACCEPTED, Bytes::new()))
    }
}

const UNACKNOWLEDGED: &str =
    "an operation of an event stream is acknowledged as JSON: `Accept` must allow it";

fn unacceptable(message: &str) -> Response<Bytes> {
    wire::refused(StatusCode::NOT_ACCEPTABLE, ErrorCode::BadRequest, message)
}

fn reserved(token: Result<String, Missing>) -> Response<Bytes> {
    match token {
        Ok(token) => wire::text(StatusCode::CREATED, token.into()),
        Err(missing) => refused(missing),
    }
}

fn stopped(wanted: &Wanted<'_>, request: &Request<Bytes>) -> Response<Bytes> {
    let id = parameter(request, "operationId").and_then(|id| id.parse().ok());
    let Some(id) = id else {
        return wire::refused(
            StatusCode::BAD_REQUEST,
            ErrorCode::BadRequest,
            "`operationId` is missing or too long",
        );
    };
    match wanted.stop(&id) {
        Ok(()) => wire::text(StatusCode::OK, Bytes::new()),
        Err(missing) => refused(missing),
    }
}

fn refused(missing: Missing) -> Response<Bytes> {
    let (status, code, message) = match missing {
        Missing::Unknown => (StatusCode::NOT_FOUND, ErrorCode::NotFound, "no such event stream"),
        Missing::Open => (
            StatusCode::CONFLICT,
            ErrorCode::Conflict,
            "the event stream is already open",
        ),
        Missing::NotOpen => (
            StatusCode::CONFLICT,
            ErrorCode::Conflict,
            "the event stream is not open yet",
        ),
        Missing::Runs => (
            StatusCode::CONFLICT,
            ErrorCode::Conflict,
            "an operation with this id is running",
        ),
        Missing::TooMany => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            (
                status,
                ErrorCode::RateLimited,
                "too many event streams or operations",
            )
        }
    };
    let mut response = wire::refused(status, code, message);
    if missing == Missing::TooMany {
        // a running operation may end at any time
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Token of the stream; an empty token matches no stream.
fn token(request: &Request<Bytes>) -> String {
    match request.headers().get("x-graphql-event-stream-token") {
        Some(token) => token.to_str().unwrap_or_default().to_owned(),
        None => parameter(request, "token").unwrap_or_default(),
    }
}

/// Query parameter, unless it is empty.
fn parameter(request: &Request<Bytes>, wanted: &str) -> Option<String> {
    let query = request.uri().query().unwrap_or_default();
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let found = parameters.find(|(name, _)| name == wanted)?;
    Some(found.1.into_owned()).filter(|value| !value.is_empty())
}

/// Operation id in the body of a parsed operation.
#[derive(Deserialize)]
struct Numbered<'b> {
    #[serde(borrow)]
    extensions: Option<Extensions<'b>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extensions<'b> {
    #[serde(borrow)]
    operation_id: Option<Cow<'b, str>>,
}

fn operation_id(body: &[u8]) -> Option<OperationId> {
    let numbered: Numbered<'_> = serde_json::from_slice(body).ok()?;
    numbered.extensions?.operation_id?.parse().ok()
}
