//! What the tour was answered, in a file, for other programs to hold against what they know of HTTP.
//!
//! No content of a request is written, and of an answer nothing that could be a secret: its characters are others, as many of
//! them as there were.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, Method, Request, Response};
use serde_json::{Value, json};

/// What is written in the place of a secret's characters.
const HIDDEN: u8 = b'x';
/// Nothing that is hard to guess is shorter.
const SHORTEST_SECRET: usize = 16;

/// The fields whose values may have one.
static WITH_SECRETS: [HeaderName; 4] = [AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE];

tokio::task_local! {
    static EXCHANGES: RefCell<Vec<Value>>;
}

/// Does what there is to do, and writes down what it was answered where there is a file for that.
///
/// # Errors
///
/// When the file cannot be written.
pub(super) async fn recorded<T>(file: Option<&Path>, doing: impl Future<Output = T>) -> io::Result<T> {
    let Some(file) = file else {
        return Ok(doing.await);
    };
    let recording = async {
        let done = doing.await;
        (done, EXCHANGES.with(RefCell::take))
    };
    let (done, exchanges) = EXCHANGES.scope(RefCell::default(), recording).await;
    std::fs::write(file, Value::Array(exchanges).to_string())?;
    Ok(done)
}

/// The head of a request, to be noted with its answer.
pub(super) struct Asked {
    method: Method,
    path: String,
    fields: Vec<(String, String)>,
}

impl Asked {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        Self {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            fields: fields(request.headers()),
        }
    }

    /// Notes the answer, whose content may be a stream that nobody waits the end of.
    pub(super) fn answered<B>(self, answer: &Response<B>, content: Option<&Bytes>) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let exchange = json!({
            "at": now.unwrap_or_default().as_secs(),
            "method": self.method.as_str(),
            "path": self.path,
            "sent": self.fields,
            "status": answer.status().as_u16(),
            "fields": fields(answer.headers()),
            "content": content.map(|content| String::from_utf8_lossy(&without_secrets(content)).into_owned()),
        });
        // fails where nobody records
        let _unheard = EXCHANGES.try_with(|exchanges| exchanges.borrow_mut().push(exchange));
    }
}

fn fields(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = |(name, value): (&HeaderName, &http::HeaderValue)| {
        let text = match WITH_SECRETS.contains(name) {
            true => without_secrets(value.as_bytes()),
            false => value.as_bytes().to_vec(),
        };
        (name.to_string(), String::from_utf8_lossy(&text).into_owned())
    };
    headers.iter().map(shown).collect()
}

/// The text with every long run of letters, digits, hyphens and underscores hidden: that is how tokens, codes, secrets and
/// signatures look.
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
    async fn what_is_recorded_has_no_secret_and_keeps_its_length() {
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
        let asking = async { Asked::of(&request).answered(&answer, Some(&content)) };
        recorded(Some(&file), asking).await.unwrap();

        let text = std::fs::read_to_string(&file).unwrap();
        for secret in ["eyJ", "c2ln", "c2Vj", "Y29k"] {
            assert!(!text.contains(secret), "{text}");
        }
        let written: Value = serde_json::from_str(&text).unwrap();
        let kept = written.pointer("/0/content").and_then(Value::as_str).unwrap();
        assert_eq!(kept.len(), content.len());
        assert!(kept.ends_with(r#"","expires_in":300}"#), "{kept}");
        assert!(text.contains("HttpOnly") && text.contains("application/json"));
        // without a file nobody records
        Asked::of(&request).answered(&answer, None);
    }
}
