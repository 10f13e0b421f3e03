//! The audit of one server: its requests and the checks of the responses.

use std::fmt;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, ORIGIN},
};
use http_conventions::audit::{self, Finding};
use serde_json::Value;

use crate::{
    client::{Client, NoAnswer},
    plan::{Plan, Write},
    report::Report,
};

const STRANGE_ORIGIN: &str = "https://conventions-audit.invalid";
const HARMFUL_ID: &str = "a; drop table";
/// Number of duplicates that are sent at once.
const RACERS: usize = 8;

/// Progress of an audit.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Path that is audited next.
    pub path: String,
    /// Number of paths before it.
    pub done: usize,
    /// Number of all paths.
    pub total: usize,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.escape_debug();
        write!(f, "[{}/{}] {path}", self.done + 1, self.total)
    }
}

/// Audits a server by this plan, and reports the progress to `tell`.
///
/// # Errors
///
/// The server sends no response.
pub async fn audit(client: &Client, plan: &Plan, tell: impl Fn(Progress)) -> Result<Report, NoAnswer> {
    let mut site = Site {
        client,
        report: Report::default(),
    };
    let total = plan.reads().len() + plan.writes().len();
    let paths = plan
        .reads()
        .iter()
        .chain(plan.writes().iter().map(|write| &write.path));
    let progress = |done: usize| {
        let path = paths.clone().nth(done).cloned().unwrap_or_default();
        tell(Progress { path, done, total });
    };
    for (done, path) in plan.reads().iter().enumerate() {
        progress(done);
        site.read(path).await?;
    }
    for (done, write) in plan.writes().iter().enumerate() {
        progress(plan.reads().len() + done);
        site.write(write).await?;
    }
    Ok(site.report)
}

struct Site<'a> {
    client: &'a Client,
    report: Report,
}

type Audited = Result<Response<Bytes>, NoAnswer>;

impl Site<'_> {
    /// Audits the responses to GET requests.
    async fn read(&mut self, path: &str) -> Result<(), NoAnswer> {
        let get = self.answered(self.request(Method::GET, path, &[])).await?;
        self.held_to(Method::HEAD, path, &[], |head| audit::head(&get, head))
            .await?;
        if let Some(tag) = get.headers().get(ETAG).and_then(|tag| tag.to_str().ok()) {
            let fields = [(IF_NONE_MATCH.as_str(), tag)];
            self.held_to(Method::GET, path, &fields, |again| {
                audit::conditional_read(&get, again)
            })
            .await?;
        }
        self.held_to(Method::GET, path, &[("x-request-id", HARMFUL_ID)], |_| Vec::new())
            .await?;
        let strange = [(ORIGIN.as_str(), STRANGE_ORIGIN)];
        let origin = |answer: &Response<Bytes>| audit::unlisted_origin(STRANGE_ORIGIN, answer);
        self.held_to(Method::GET, path, &strange, origin).await?;
        if let Ok(method) = Method::from_bytes(b"AUDIT") {
            self.held_to(method, path, &[], audit::unknown_method).await?;
        }
        self.without_credentials(path).await?;
        let nowhere = format!("{}/conventions-audit-finds-nothing", path.trim_end_matches('/'));
        self.answered(self.request(Method::GET, &nowhere, &[])).await?;
        if is_page(&get) {
            self.page(path, &get).await?;
        }
        Ok(())
    }

    /// Audits the response to a request without credentials.
    async fn without_credentials(&mut self, path: &str) -> Result<(), NoAnswer> {
        let mut request = self.request(Method::GET, path, &[]);
        if request.headers_mut().remove(AUTHORIZATION).is_some() {
            self.answered(request).await?;
        }
        Ok(())
    }

    async fn page(&mut self, path: &str, page: &Response<Bytes>) -> Result<(), NoAnswer> {
        let limit = with_query(path, "limit=0");
        self.held_to(Method::GET, &limit, &[], audit::limit_out_of_range)
            .await?;
        let content: Value = serde_json::from_slice(page.body()).unwrap_or_default();
        let cursor = content
            .get("next_cursor")
            .and_then(Value::as_str)
            .unwrap_or("conventions-audit");
        let changed = with_query(path, &format!("after={}", changed(cursor)));
        self.held_to(Method::GET, &changed, &[], audit::changed_cursor)
            .await?;
        Ok(())
    }

    /// Audits the responses to a POST request with an `Idempotency-Key`, sent several times.
    async fn write(&mut self, write: &Write) -> Result<(), NoAnswer> {
        let key = random_key();
        let first = self.answered(self.post(write, &key, &write.body)).await?;
        let again = self.answered(self.post(write, &key, &write.body)).await?;
        let request = self.post(write, &key, &write.body);
        self.report.add(
            &request,
            &again,
            audit::duplicates(&[first.clone(), again.clone()]),
        );
        if first.status().is_success() {
            let other = self.post(write, &key, &another(&write.body));
            self.judged(other, audit::reused_key).await?;
        }
        self.race(write).await?;
        let created = first
            .headers()
            .get(LOCATION)
            .and_then(|location| location.to_str().ok());
        if let Some(path) = created.filter(|_| first.status() == StatusCode::CREATED) {
            // an absolute URL may name another server
            if path.starts_with('/') {
                self.read(path).await?;
                self.stale(path, &write.body).await?;
            }
        }
        Ok(())
    }

    async fn race(&mut self, write: &Write) -> Result<(), NoAnswer> {
        let key = random_key();
        let racing = (0..RACERS).map(|_| self.client.send(self.post(write, &key, &write.body)));
        let answers = join_all(racing)
            .await
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let request = self.post(write, &key, &write.body);
        for answer in &answers {
            self.look(&request, answer);
        }
        if let Some(last) = answers.last() {
            self.report.add(&request, last, audit::duplicates(&answers));
        }
        Ok(())
    }

    /// Audits a write with a precondition that cannot hold.
    async fn stale(&mut self, path: &str, body: &Value) -> Result<(), NoAnswer> {
        let fields = [(IF_MATCH.as_str(), "\"conventions-audit-never-was\"")];
        let mut request = self.request(Method::PUT, path, &fields);
        with_json(&mut request, body);
        self.judged(request, audit::stale_write).await?;
        Ok(())
    }

    fn request(&self, method: Method, target: &str, fields: &[(&'static str, &str)]) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().unwrap_or_default();
        let mut headers: HeaderMap = self.client.headers().clone();
        for (name, value) in fields {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(*name, value);
            }
        }
        *request.headers_mut() = headers;
        request
    }

    fn post(&self, write: &Write, key: &str, body: &Value) -> Request<Bytes> {
        let mut request = self.request(Method::POST, &write.path, &[("idempotency-key", key)]);
        with_json(&mut request, body);
        request
    }

    async fn answered(&mut self, request: Request<Bytes>) -> Audited {
        self.judged(request, |_| Vec::new()).await
    }

    async fn held_to(
        &mut self,
        method: Method,
        target: &str,
        fields: &[(&'static str, &str)],
        judge: impl FnOnce(&Response<Bytes>) -> Vec<Finding>,
    ) -> Audited {
        let request = self.request(method, target, fields);
        self.judged(request, judge).await
    }

    /// Sends a request, and applies the common checks and this one to the response.
    async fn judged(
        &mut self,
        request: Request<Bytes>,
        judge: impl FnOnce(&Response<Bytes>) -> Vec<Finding>,
    ) -> Audited {
        let answer = self.client.send(request.clone()).await?;
        self.look(&request, &answer);
        self.report.add(&request, &answer, judge(&answer));
        Ok(answer)
    }

    fn look(&mut self, request: &Request<Bytes>, answer: &Response<Bytes>) {
        self.report.count_response();
        self.report.add(request, answer, audit::audit(request, answer));
    }
}

fn with_json(request: &mut Request<Bytes>, body: &Value) {
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(CONTENT_TYPE, json);
    *request.body_mut() = Bytes::from(body.to_string());
}

fn is_page(answer: &Response<Bytes>) -> bool {
    let content: Option<Value> = serde_json::from_slice(answer.body()).ok();
    content.is_some_and(|content| content.get("has_more").is_some())
}

fn with_query(path: &str, query: &str) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}{query}")
}

/// Changes a character in the middle of the cursor.
fn changed(cursor: &str) -> String {
    let middle = cursor.chars().count() / 2;
    let other = |character: char| if character == 'A' { 'B' } else { 'A' };
    let changed = cursor
        .chars()
        .enumerate()
        .map(|(position, character)| match position == middle {
            true => other(character),
            false => character,
        });
    changed.collect()
}

/// Adds a member to the body, so that it is another request.
fn another(body: &Value) -> Value {
    let mut another = body.clone();
    if let Some(members) = another.as_object_mut() {
        members.insert("conventions_audit".to_owned(), Value::Bool(true));
    }
    another
}

/// A random key.
fn random_key() -> String {
    let random = getrandom::u64().unwrap_or_default();
    format!("conventions-audit-{random:016x}")
}
