//! Recording of the responses to a file, so that other programs can audit them.
//!
//! The file holds no request bodies. In responses and headers, each character of a possible secret
//! is replaced by `x`, so lengths are preserved.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, Method, Request, Response};
use serde_json::{Value, json};

/// Replaces each character of a secret.
const HIDDEN: u8 = b'x';
/// Minimum length of a run of characters that may be a secret.
const SHORTEST_SECRET: usize = 16;

/// Headers whose values may contain secrets.
static SECRET_HEADERS: [HeaderName; 4] = [AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE];

tokio::task_local! {
    static EXCHANGES: RefCell<Vec<Value>>;
}

/// Runs `walk`; if `file` is given, writes the exchanges to it afterwards.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(super) async fn record_to<T>(file: Option<&Path>, walk: impl Future<Output = T>) -> io::Result<T> {
    let Some(file) = file else {
        return Ok(walk.await);
    };
    let recording = async {
        let done = walk.await;
        (done, EXCHANGES.with(RefCell::take))
    };
    let (done, exchanges) = EXCHANGES.scope(RefCell::default(), recording).await;
    std::fs::write(file, Value::Array(exchanges).to_string())?;
    Ok(done)
}

/// Head of a request, recorded with its response.
pub(super) struct Exchange {
    method: Method,
    path: String,
    fields: Vec<(String, String)>,
}

impl Exchange {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        Self {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            fields: fields(request.headers()),
        }
    }

    /// Records the response. `content` is `None` for a stream, which is not read to its end.
    pub(super) fn record<B>(self, answer: &Response<B>, content: Option<&Bytes>) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let recorded = json!({
            "at": now.unwrap_or_default().as_secs(),
            "method": self.method.as_str(),
            "path": self.path,
            "sent": self.fields,
            "status": answer.status().as_u16(),
            "fields": fields(answer.headers()),
            "content": content.map(|content| String::from_utf8_lossy(&without_secrets(content)).into_owned()),
        });
        // fails outside of a recording
        let _not_recording = EXCHANGES.try_with(|exchanges| exchanges.borrow_mut().push(recorded));
    }
}

fn fields(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = |(name, value): (&HeaderName, &http::HeaderValue)| {
        let text = match SECRET_HEADERS.contains(name) {
            true => without_secrets(value.as_bytes()),
            false => value.as_bytes().to_vec(),
        };
        (name.to_string(), String::from_utf8_lossy(&text).into_owned())
    };
    headers.iter().map(shown).collect()
}

/// Masks each long run of letters, digits, hyphens and underscores: the form of tokens, codes,
/// secrets and signatures.
fn without_secrets(text: &[u8]) -> Vec<u8> {
    let is_random = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+/=".contains(byte);
    let mut shown = Vec::with_capacity(text.len());
    for run in text.chunk_by(|one, next| is_random(one) == is_random(next)) {
        let hides = run.len() >= SHORTEST_SECRET && run.first().is_some_and(is_random);
        match hides {
            true => shown.extend(std::iter::repeat_n(HIDDEN, run.len())),
            false => shown.extend_from_slice(run),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn recording_masks_secrets_and_keeps_lengths() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tour.json");
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfYWRhIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ";
        let content = Bytes::from(format!(r#"{{"access_token":"{token}","expires_in":300}}"#));
        let answer = Response::builder()
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
            .body(())
            .unwrap();
        let exchange = async { Exchange::of(&request).record(&answer, Some(&content)) };
        record_to(Some(&file), exchange).await.unwrap();

        let text = std::fs::read_to_string(&file).unwrap();
        for secret in ["eyJ", "c2ln", "c2Vj", "Y29k"] {
            assert!(!text.contains(secret), "{text}");
        }
        let written: Value = serde_json::from_str(&text).unwrap();
        let kept = written.pointer("/0/content").and_then(Value::as_str).unwrap();
        assert_eq!(kept.len(), content.len());
        assert!(kept.ends_with(r#"","expires_in":300}"#), "{kept}");
        assert!(text.contains("HttpOnly") && text.contains("application/json"));
        // without `--record`, this does nothing
        Exchange::of(&request).record(&answer, None);
    }
}
