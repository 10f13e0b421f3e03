//! Recording of the exchanges, for other programs (`--record`) and for a page (`--report`).
//!
//! Possible secrets in URLs, headers and bodies are masked: each byte becomes `x`. Lengths are
//! preserved, except for percent-encoded form values.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, Request, Response};
use serde_json::{Value, json};

/// Replacement for each byte of a secret.
const MASK: u8 = b'x';
/// Minimum length of a run of characters that may be a secret.
const SHORTEST_SECRET: usize = 16;

/// Headers whose values may contain secrets.
static SECRET_HEADERS: [HeaderName; 5] = [
    AUTHORIZATION,
    COOKIE,
    HeaderName::from_static("dpop"),
    LOCATION,
    SET_COOKIE,
];

tokio::task_local! {
    static EXCHANGES: RefCell<Vec<RecordedExchange>>;
}

/// Runs `operation` and returns its result with the exchanges.
pub(super) async fn record<T>(operation: impl Future<Output = T>) -> (T, Vec<RecordedExchange>) {
    let recording = async {
        let done = operation.await;
        (done, EXCHANGES.with(RefCell::take))
    };
    EXCHANGES.scope(RefCell::default(), recording).await
}

/// Number of exchanges so far; 0 outside of a recording.
pub(super) fn count() -> usize {
    let counted = EXCHANGES.try_with(|exchanges| exchanges.borrow().len());
    counted.unwrap_or_default()
}

/// Writes the exchanges as JSON, without the bodies of the requests.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(super) fn write_json(file: &Path, exchanges: &[RecordedExchange]) -> io::Result<()> {
    let exchanges = exchanges.iter().map(RecordedExchange::to_json).collect();
    std::fs::write(file, Value::Array(exchanges).to_string())
}

/// A message without secrets. The body of a stream is `None`, because it is not read to its end.
pub(super) struct Message {
    pub(super) fields: Vec<(String, String)>,
    pub(super) content: Option<String>,
}

impl Message {
    fn new(headers: &HeaderMap, content: Option<&Bytes>) -> Self {
        let is_form = headers
            .get(CONTENT_TYPE)
            .is_some_and(|value| value.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
        let mask = |content: &Bytes| match is_form {
            true => mask_form(content),
            false => mask_secrets(content),
        };
        Self {
            fields: mask_headers(headers),
            content: content.map(mask),
        }
    }
}

/// A request of the tour and its response.
pub(super) struct RecordedExchange {
    /// Unix time in seconds.
    at: u64,
    pub(super) method: String,
    path: String,
    /// Path and query.
    pub(super) target: String,
    pub(super) sent: Message,
    pub(super) status: u16,
    pub(super) received: Message,
}

impl RecordedExchange {
    fn to_json(&self) -> Value {
        json!({
            "at": self.at,
            "method": self.method,
            "path": self.path,
            "sent": self.sent.fields,
            "status": self.status,
            "fields": self.received.fields,
            "content": self.received.content,
        })
    }
}

/// A request, recorded with its response.
pub(super) struct SentRequest {
    method: String,
    path: String,
    target: String,
    message: Message,
}

impl SentRequest {
    pub(super) fn new(request: &Request<Bytes>) -> Self {
        let target = request.uri().path_and_query().map(|target| target.as_str());
        Self {
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            target: mask_secrets(target.unwrap_or_default().as_bytes()),
            message: Message::new(request.headers(), Some(request.body())),
        }
    }

    /// Records the response. `content` is `None` for a stream, which is not read to its end.
    pub(super) fn record<B>(self, response: &Response<B>, content: Option<&Bytes>) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let exchange = RecordedExchange {
            at: now.unwrap_or_default().as_secs(),
            method: self.method,
            path: self.path,
            target: self.target,
            sent: self.message,
            status: response.status().as_u16(),
            received: Message::new(response.headers(), content),
        };
        // fails outside of a recording
        let _not_recording = EXCHANGES.try_with(|exchanges| exchanges.borrow_mut().push(exchange));
    }
}

fn mask_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let mask = |(name, value): (&HeaderName, &http::HeaderValue)| {
        let text = match SECRET_HEADERS.contains(name) {
            true => mask_secrets(value.as_bytes()),
            false => String::from_utf8_lossy(value.as_bytes()).into_owned(),
        };
        (name.to_string(), text)
    };
    headers.iter().map(mask).collect()
}

/// Masks all values of fields named as passwords or secrets, and other possible secrets of a form
/// body.
fn mask_form(form: &[u8]) -> String {
    let masked_pairs = form_urlencoded::parse(form).map(|(name, value)| {
        let is_secret = name.contains("password") || name.contains("secret");
        let value = match is_secret {
            true => "x".repeat(value.len()),
            false => mask_secrets(value.as_bytes()),
        };
        (name, value)
    });
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(masked_pairs)
        .finish()
}

/// Masks each run of at least 16 letters, digits or characters of `-_+/=`: the alphabet of tokens,
/// codes, secrets and signatures.
pub(super) fn mask_secrets(text: &[u8]) -> String {
    let is_random = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+/=".contains(byte);
    let mut masked_text = Vec::with_capacity(text.len());
    for run in text.chunk_by(|one, next| is_random(one) == is_random(next)) {
        let is_secret = run.len() >= SHORTEST_SECRET && run.first().is_some_and(is_random);
        match is_secret {
            true => masked_text.extend(std::iter::repeat_n(MASK, run.len())),
            false => masked_text.extend_from_slice(run),
        }
    }
    String::from_utf8_lossy(&masked_text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn recording_masks_secrets_and_keeps_lengths() {
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfYWRhIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ";
        let content = Bytes::from(format!(r#"{{"access_token":"{token}","expires_in":300}}"#));
        let response = Response::builder()
            .header("set-cookie", "session=c2VjcmV0LXNlY3JldC1zZWNyZXQ; HttpOnly")
            .header(
                "location",
                "http://127.0.0.1:9999/callback?code=Y29kZS1jb2RlLWNvZGU&state=1",
            )
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        let request = Request::post("/token?code=Y29kZS1jb2RlLWNvZGU")
            .header("authorization", "Basic c2VjcmV0LXNlY3JldC1zZWNyZXQ=")
            .header(
                "dpop",
                "eyJ0eXAiOiJkcG9wK2p3dCJ9.eyJqdGkiOiJhIiwiaHR1IjoiIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ",
            )
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Bytes::from_static(b"password=short&state=1&client_secret=a%20b"))
            .unwrap();
        let exchange = async { SentRequest::new(&request).record(&response, Some(&content)) };
        let ((), exchanges) = record(exchange).await;
        let sent = exchanges[0].sent.content.as_deref();
        assert_eq!(sent, Some("password=xxxxx&state=1&client_secret=xxx"));
        assert!(!exchanges[0].target.contains("Y29k"), "{}", exchanges[0].target);

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tour.json");
        write_json(&file, &exchanges).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        for secret in ["eyJ", "c2ln", "c2Vj", "Y29k"] {
            assert!(!text.contains(secret), "{text}");
        }
        let written: Value = serde_json::from_str(&text).unwrap();
        let kept = written.pointer("/0/content").and_then(Value::as_str).unwrap();
        assert_eq!(kept.len(), content.len());
        assert!(kept.ends_with(r#"","expires_in":300}"#), "{kept}");
        assert!(text.contains("HttpOnly") && text.contains("application/json"));
        // outside of a recording, this does nothing
        SentRequest::new(&request).record(&response, None);
        assert_eq!(count(), 0);
    }
}
