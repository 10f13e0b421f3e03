//! The tour's HTTP client: opens one connection per exchange and follows no redirects.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::record::SentRequest;
use super::report::{Mismatch, mismatch};

/// Timeout of one exchange.
const PATIENCE: Duration = Duration::from_secs(20);

/// A complete response and the request it belongs to, for the report.
pub(super) struct FullResponse {
    pub(super) sent: String,
    pub(super) response: Response<Bytes>,
}

impl FullResponse {
    /// Fails the step unless the response has this status.
    pub(super) fn expect(&self, status: StatusCode) -> Result<&Self, Mismatch> {
        if self.response.status() == status {
            return Ok(self);
        }
        let got = format!(
            "{} {}",
            self.response.status(),
            String::from_utf8_lossy(self.response.body())
        );
        Err(mismatch(&self.sent, format_args!("status {status}"), got))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Fails the step unless the response has this header.
    pub(super) fn expect_header(&self, name: &str) -> Result<&str, Mismatch> {
        self.header(name)
            .ok_or_else(|| mismatch(&self.sent, format_args!("a header {name}"), "none"))
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(self.response.body()).into_owned()
    }

    /// Fails the step unless the body is JSON.
    pub(super) fn json(&self) -> Result<Value, Mismatch> {
        serde_json::from_slice(self.response.body())
            .map_err(|_| mismatch(&self.sent, "a JSON body", self.text()))
    }

    /// Fails the step unless the body has a string at this JSON pointer.
    pub(super) fn string_at(&self, pointer: &str) -> Result<String, Mismatch> {
        let json = self.json()?;
        match json.pointer(pointer).and_then(Value::as_str) {
            Some(text) => Ok(text.to_owned()),
            None => Err(mismatch(&self.sent, format_args!("a string at {pointer}"), json)),
        }
    }

    /// Fails the step unless the body has this value at this JSON pointer.
    pub(super) fn expect_at(&self, pointer: &str, expected: impl Into<Value>) -> Result<&Self, Mismatch> {
        let (json, expected) = (self.json()?, expected.into());
        match json.pointer(pointer) {
            Some(found) if *found == expected => Ok(self),
            found => Err(mismatch(
                &self.sent,
                format_args!("{pointer} {expected}"),
                format_args!("{found:?} in {json}"),
            )),
        }
    }
}

fn broken(sent: &str) -> impl Fn(String) -> Mismatch + '_ {
    move |fault| mismatch(sent, "a response", fault)
}

async fn open(request: Request<Bytes>, sent: &str) -> Result<Response<Incoming>, Mismatch> {
    let broken = broken(sent);
    let authority = request
        .uri()
        .authority()
        .ok_or_else(|| broken("the URL has no authority".to_owned()))?;
    let stream = TcpStream::connect(authority.as_str())
        .await
        .map_err(|error| broken(error.to_string()))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| broken(error.to_string()))?;
    tokio::spawn(connection);
    let (mut parts, body) = request.into_parts();
    if let Ok(host) = authority_of(&parts.uri).parse() {
        parts.headers.insert(header::HOST, host);
    }
    if let Some(path) = parts.uri.path_and_query().cloned() {
        parts.uri = path.into();
    }
    sender
        .send_request(Request::from_parts(parts, Full::new(body)))
        .await
        .map_err(|error| broken(error.to_string()))
}

fn authority_of(uri: &http::Uri) -> String {
    uri.authority().map(ToString::to_string).unwrap_or_default()
}

fn describe(request: &Request<Bytes>) -> String {
    format!("{} {}", request.method(), request.uri().path())
}

/// Sends the request and reads the complete response.
pub(super) async fn send(request: Request<Bytes>) -> Result<FullResponse, Mismatch> {
    let sent = describe(&request);
    let recorded = SentRequest::new(&request);
    let exchange = async {
        let (parts, body) = open(request, &sent).await?.into_parts();
        let body = body
            .collect()
            .await
            .map_err(|error| broken(&sent)(error.to_string()))?
            .to_bytes();
        let response = Response::from_parts(parts, body);
        recorded.record(&response, Some(response.body()));
        Ok(response)
    };
    match tokio::time::timeout(PATIENCE, exchange).await {
        Ok(response) => response.map(|response| FullResponse {
            sent: sent.clone(),
            response,
        }),
        Err(_) => Err(broken(&sent)("no response in time".to_owned())),
    }
}

/// An open stream of server-sent events.
pub(super) struct EventStream {
    sent: String,
    body: Incoming,
    read: BytesMut,
}

/// Opens a stream of server-sent events.
pub(super) async fn subscribe(request: Request<Bytes>) -> Result<EventStream, Mismatch> {
    let sent = format!("{} as text/event-stream", describe(&request));
    let recorded = SentRequest::new(&request);
    let response = open(request, &sent).await?;
    recorded.record(&response, None);
    if response.status() != StatusCode::OK {
        let (status, body) = (response.status(), response.into_body().collect().await);
        let body = body
            .map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned())
            .unwrap_or_default();
        return Err(mismatch(sent, "status 200", format_args!("{status} {body}")));
    }
    Ok(EventStream {
        sent,
        body: response.into_body(),
        read: BytesMut::new(),
    })
}

impl EventStream {
    pub(super) fn sent(&self) -> &str {
        &self.sent
    }

    /// Data of the next event with this name. Skips comments and other events.
    pub(super) async fn next(&mut self, name: &str) -> Result<Value, Mismatch> {
        match tokio::time::timeout(PATIENCE, self.find(name)).await {
            Ok(found) => found,
            Err(_) => Err(mismatch(
                &self.sent,
                format_args!("an event `{name}`"),
                "no event in time",
            )),
        }
    }

    async fn find(&mut self, name: &str) -> Result<Value, Mismatch> {
        loop {
            while let Some(event) = self.take_event() {
                if event.lines().any(|line| {
                    line.strip_prefix("event:")
                        .is_some_and(|found| found.trim() == name)
                }) {
                    let data: String = event
                        .lines()
                        .filter_map(|line| line.strip_prefix("data:"))
                        .collect();
                    return serde_json::from_str(&data)
                        .map_err(|_| mismatch(&self.sent, "JSON data", &event));
                }
            }
            match self.body.frame().await {
                Some(Ok(frame)) => self
                    .read
                    .extend_from_slice(frame.data_ref().map_or(&[], |data| data)),
                Some(Err(error)) => return Err(broken(&self.sent)(error.to_string())),
                None => {
                    return Err(mismatch(
                        &self.sent,
                        format_args!("an event `{name}`"),
                        "the end of the stream",
                    ));
                }
            }
        }
    }

    /// Removes the next complete event, up to its empty line, from the buffer.
    fn take_event(&mut self) -> Option<String> {
        let end = self.read.windows(2).position(|pair| pair == b"\n\n")?;
        let event = self.read.split_to(end + 2);
        Some(String::from_utf8_lossy(&event).into_owned())
    }
}
