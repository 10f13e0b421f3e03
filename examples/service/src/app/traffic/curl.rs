//! A request as a command of curl.

use super::Seen;
use super::redact::REDACTED;

/// Header fields that curl adds itself, or that belong to the connection.
const OF_CURL: [&str; 7] = [
    "host",
    "content-length",
    "connection",
    "accept-encoding",
    "transfer-encoding",
    "cookie",
    "user-agent",
];

pub(super) fn command(seen: &Seen, base_url: &str) -> String {
    let mut lines = vec![format!(
        "curl -i {}",
        quoted(&format!("{base_url}{}", seen.target))
    )];
    // curl sends content by POST
    let default = if seen.sent.content.is_empty() {
        "GET"
    } else {
        "POST"
    };
    if seen.method != default {
        lines.push(format!("-X {}", seen.method));
    }
    for (name, value) in &seen.sent.fields {
        if OF_CURL.contains(&name.as_str()) || name.starts_with("sec-") {
            continue;
        }
        if name == "authorization" {
            let scheme = value.split(' ').next().unwrap_or_default();
            lines.push(format!("-H \"Authorization: {scheme} $TOKEN\""));
        } else if !value.contains(REDACTED) {
            lines.push(format!("-H {}", quoted(&format!("{name}: {value}"))));
        }
    }
    if !seen.sent.content.is_empty() {
        lines.push(format!("--data {}", quoted(&seen.sent.content)));
    }
    lines.join(" \\\n  ")
}

/// Text in single quotes of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use bytes::Bytes;
    use http::{Request, Response};

    use super::super::Asked;

    /// X9: a request can be repeated with curl and a token of one's own.
    #[test]
    fn request_becomes_a_command_with_quoted_words() {
        let mut request = Request::post("/v1/charges")
            .header("authorization", "Bearer very-secret")
            .header("content-type", "application/json")
            .header("idempotency-key", "\"k-1\"")
            .body(Bytes::from_static(br#"{"description":"it's"}"#))
            .unwrap();
        let asked = Asked::of(&mut request, SystemTime::UNIX_EPOCH).unwrap();
        let seen = asked.answered(&Response::new(()), None, SystemTime::UNIX_EPOCH);
        assert_eq!(
            seen.curl("http://127.0.0.1:8080"),
            "curl -i 'http://127.0.0.1:8080/v1/charges' \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n  \
             -H 'content-type: application/json' \\\n  -H 'idempotency-key: \"k-1\"' \\\n  \
             --data '{\"description\":\"it'\\''s\"}'"
        );
    }
}
