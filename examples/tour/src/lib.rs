//! The tour: a client that walks through the whole service over HTTP and checks every answer.
//!
//! It signs in with oauth-core's client half and receives webhooks with webhook-core's receiver half, so both sides of each
//! protocol are at work. All it does besides HTTP is to advance the service's clock and to read the user's letters.

mod browser;
mod charges;
mod graph;
mod http;
mod possession;
mod receiver;
mod record;
mod report;
mod sessions;
mod sign_in;
mod tokens;
mod webhooks;

use std::io::{self, Stdout};
use std::path::Path;

use ::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ::http::{HeaderValue, Method, Request};
use bytes::Bytes;
use serde_json::Value;

use self::report::{Mismatch, Report, Stopped, mismatch};
use crate::clock::DemoClock;
use crate::mail::Letters;

/// What the tour carries from step to step.
struct Tour<'a> {
    base_url: &'a str,
    clock: &'a DemoClock,
    letters: &'a Letters,
    report: Report<Stdout>,
}

/// The tokens of one sign-in.
#[derive(Clone)]
struct Tokens {
    access: String,
    refresh: String,
}

/// Walks through the service at `base_url`, printing a line a step; true when every step passed. What it is answered is written
/// down where there is a file for that.
///
/// # Errors
///
/// When the file cannot be written.
pub async fn walk(
    base_url: &str,
    clock: &DemoClock,
    letters: &Letters,
    record: Option<&Path>,
) -> io::Result<bool> {
    let mut tour = Tour {
        base_url,
        clock,
        letters,
        report: Report::on_stdout(),
    };
    let stopped = record::recorded(record, all(&mut tour)).await?;
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

    /// A request with a bearer token and no body.
    fn bearing(&self, method: Method, path: &str, token: &str) -> Result<Request<Bytes>, Mismatch> {
        let request = Request::builder().method(method).uri(self.url(path));
        let request = request
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Bytes::new());
        request.map_err(|error| mismatch(path, "a request", error))
    }

    /// A request with a bearer token and a JSON body.
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

    /// A GraphQL operation, for an answer of this media type.
    fn operation(&self, token: &str, query: &str, accept: &str) -> Result<Request<Bytes>, Mismatch> {
        let body = serde_json::json!({ "query": query });
        with_header(
            self.sending(Method::POST, "/graphql", token, &body)?,
            "accept",
            accept,
        )
    }

    /// A form, with HTTP Basic where the client has a secret.
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

/// The request with one more header.
fn with_header(
    mut request: Request<Bytes>,
    name: &'static str,
    value: &str,
) -> Result<Request<Bytes>, Mismatch> {
    let value = HeaderValue::from_str(value).map_err(|error| mismatch(name, "a header", error))?;
    request.headers_mut().insert(name, value);
    Ok(request)
}
