//! A client that calls a running payments desk over HTTP and checks every response.
//!
//! It signs in with the OAuth client of oauth-core and receives webhooks with the receiver of
//! webhook-core, so both sides of each protocol are exercised. [`RunningDesk`] is the only access
//! to the desk's process besides HTTP.

mod browser;
mod charges;
pub mod demo;
mod graph;
mod http;
mod page;
mod possession;
mod receiver;
mod record;
mod report;
mod sessions;
mod sign_in;
mod tokens;
mod webhooks;

use std::io::{self, Stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ::http::{HeaderValue, Method, Request};
use bytes::Bytes;
use host_ports::Clock;
use serde_json::Value;
use tokio::sync::watch;

use self::report::{Mismatch, Report, Stopped, mismatch};

/// Access to the desk's process that HTTP does not give: its clock and the mail it sends.
pub trait RunningDesk: Clock {
    /// Advances the clock of the desk and wakes the work that is due by then.
    fn advance(&self, by: Duration);

    /// Receiver that changes when the desk has booked refunds or settled deliveries in the
    /// background.
    fn progress(&self) -> watch::Receiver<()>;

    /// Takes the text of the last mail to a user.
    fn take_mail(&self) -> Option<String>;
}

/// State of the tour.
struct Tour<'a> {
    base_url: &'a str,
    desk: Arc<dyn RunningDesk>,
    report: Report<Stdout>,
}

/// The tokens of one sign-in.
#[derive(Clone)]
struct Tokens {
    access: String,
    refresh: String,
}

/// Files that the tour writes at its end, with secrets masked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outputs {
    /// The responses as JSON.
    pub record: Option<PathBuf>,
    /// Each step with its requests and responses, as one HTML page.
    pub report: Option<PathBuf>,
}

/// Runs all steps against the desk at `base_url` and prints one line per step. Returns `true` if
/// every step passed.
///
/// # Errors
///
/// Returns an error if a file cannot be written.
pub async fn walk(base_url: &str, desk: Arc<dyn RunningDesk>, outputs: &Outputs) -> io::Result<bool> {
    let mut tour = Tour {
        base_url,
        desk,
        report: Report::on_stdout(),
    };
    let (stopped, exchanges) = record::record(all(&mut tour)).await;
    if let Some(file) = &outputs.record {
        record::write_json(file, &exchanges)?;
    }
    if let Some(file) = &outputs.report {
        std::fs::write(file, page::render(tour.report.chapters(), &exchanges)?)?;
    }
    Ok(tour.report.end() && stopped.is_ok())
}

async fn all(tour: &mut Tour<'_>) -> Result<(), Stopped> {
    let tokens = sign_in::chapter(tour).await?;
    charges::chapter(tour, &tokens).await?;
    graph::chapter(tour, &tokens).await?;
    webhooks::chapter(tour).await?;
    tokens::chapter(tour, tokens).await?;
    possession::chapter(tour).await?;
    sessions::chapter(tour).await
}

impl Tour<'_> {
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    /// Builds a request with a bearer token and no body.
    fn bearing(&self, method: Method, path: &str, token: &str) -> Result<Request<Bytes>, Mismatch> {
        let request = Request::builder().method(method).uri(self.url(path));
        let request = request
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Bytes::new());
        request.map_err(|error| mismatch(path, "a request", error))
    }

    /// Builds a request with a bearer token and a JSON body.
    fn sending(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: &Value,
    ) -> Result<Request<Bytes>, Mismatch> {
        let mut request = self.bearing(method, path, token)?;
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Bytes::from(body.to_string());
        Ok(request)
    }

    /// Builds a GraphQL request that accepts this media type.
    fn operation(&self, token: &str, query: &str, accept: &str) -> Result<Request<Bytes>, Mismatch> {
        let body = serde_json::json!({ "query": query });
        with_header(
            self.sending(Method::POST, "/graphql", token, &body)?,
            "accept",
            accept,
        )
    }

    /// Builds a form request, with HTTP Basic if the client has a secret.
    fn form(
        &self,
        path: &str,
        client: Option<(&str, &str)>,
        fields: &[(&str, &str)],
    ) -> Result<Request<Bytes>, Mismatch> {
        use base64::Engine as _;
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(self.url(path))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some((id, secret)) = client {
            let credentials = base64::engine::general_purpose::STANDARD.encode(format!("{id}:{secret}"));
            request = request.header(AUTHORIZATION, format!("Basic {credentials}"));
        }
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        request
            .body(Bytes::from(body))
            .map_err(|error| mismatch(path, "a request", error))
    }
}

/// Adds a header to the request.
fn with_header(
    mut request: Request<Bytes>,
    name: &'static str,
    value: &str,
) -> Result<Request<Bytes>, Mismatch> {
    let value = HeaderValue::from_str(value).map_err(|error| mismatch(name, "a header", error))?;
    request.headers_mut().insert(name, value);
    Ok(request)
}
