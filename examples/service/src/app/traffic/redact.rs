//! Removal of secrets: by the name of a field, parameter or member, and by the form of the value.
//!
//! Only forms and JSON are kept as content. A page is not: it has form tokens.

use bytes::Bytes;
use host_ports::ContentType;
use http::{HeaderMap, Uri};
use http_conventions::content::JsonReader;
use serde_json::Value;

/// Text in place of a secret.
pub(in super::super) const REDACTED: &str = "[redacted]";
/// Maximum length of a kept header value, in characters.
const VALUE: usize = 512;
/// Maximum length of kept content, in characters.
const CONTENT: usize = 4_096;
/// Maximum length of content that is parsed, in bytes.
const PARSED: usize = 64 * 1024;

/// Header fields whose whole value is a secret, or has one.
const SECRET_FIELDS: [&str; 9] = [
    "cookie",
    "set-cookie",
    "dpop",
    "proxy-authorization",
    "client-cert",
    "client-cert-chain",
    "x-forwarded-client-cert",
    "sec-websocket-key",
    "sec-websocket-protocol",
];

/// Parts of names of secret parameters and members.
const SECRET_PARTS: [&str; 12] = [
    "token",
    "secret",
    "password",
    "assertion",
    "verifier",
    "challenge",
    "signature",
    "interaction",
    "credential",
    "request_uri",
    "private",
    "nonce",
];
/// Names of secret parameters and members; static headers of an endpoint are members `value`.
const SECRET_NAMES: [&str; 5] = ["value", "state", "session", "request", "d"];

/// Prefixes of the secrets that the suite generates.
const PREFIXES: [&str; 6] = ["ac_", "at_", "rt_", "pr_", "cs_", "whsec_"];

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // types of tokens are words of a standard
    let is_type = name.ends_with("_type") || name.ends_with("_method");
    !is_type && (SECRET_PARTS.iter().any(|part| name.contains(part)) || SECRET_NAMES.contains(&&*name))
}

/// Returns `true` for the form of a generated secret or a signed token, anywhere in the text.
fn has_secret(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_-.+/=".contains(character);
    text.split(|character| !is_part(character)).any(|word| {
        let is_generated = word.len() >= 20 && PREFIXES.iter().any(|prefix| word.starts_with(prefix));
        let is_signed = word.starts_with("eyJ") && word.matches('.').count() >= 2;
        is_generated || is_signed
    })
}

/// Names and values of a header section.
pub(super) fn fields(headers: &HeaderMap) -> Vec<(String, String)> {
    let named = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.as_str().to_owned(), field(name.as_str(), &value))
    });
    named.collect()
}

fn field(name: &str, value: &str) -> String {
    if SECRET_FIELDS.contains(&name) {
        return REDACTED.to_owned();
    }
    if name == "authorization" {
        let scheme = value
            .split(' ')
            .next()
            .filter(|scheme| scheme.len() < 20 && value.contains(' '));
        return format!("{} {REDACTED}", scheme.unwrap_or("Unknown"));
    }
    let value = match value.split_once('?') {
        Some((address, parameters)) if ["location", "referer"].contains(&name) => {
            format!("{address}?{}", form(parameters.as_bytes()))
        }
        _ if has_secret(value) => REDACTED.to_owned(),
        _ => value.to_owned(),
    };
    cut(value, VALUE)
}

/// Path and query of a request.
pub(super) fn target(uri: &Uri, longest: usize) -> String {
    let path = uri.path();
    let target = match uri.query() {
        Some(query) => format!("{path}?{}", form(query.as_bytes())),
        None => path.to_owned(),
    };
    match has_secret(path) {
        true => REDACTED.to_owned(),
        false => cut(target, longest),
    }
}

/// Content of a request or a response; `None` for a stream.
pub(super) fn content(headers: &HeaderMap, content: Option<&Bytes>) -> String {
    let Some(content) = content else {
        return "[a stream, not kept]".to_owned();
    };
    if content.is_empty() {
        return String::new();
    }
    let media_type = ContentType::from_headers(headers);
    let is = |known: &str| media_type.as_ref().is_some_and(|sent| sent.is(known));
    let is_json = [
        "application/json",
        "application/problem+json",
        "application/merge-patch+json",
        "application/graphql-response+json",
    ];
    let kept = if content.len() > PARSED {
        None
    } else if is("application/x-www-form-urlencoded") {
        Some(form(content))
    } else if is_json.into_iter().any(is) {
        // refuses a member that stands twice: one of the two would be kept unseen
        let value = JsonReader::new().read_bytes::<Value>(content);
        value.ok().map(|value| json(value, content))
    } else {
        None
    };
    match kept {
        Some(kept) => cut(kept, CONTENT),
        None => format!("[{} bytes, not kept]", content.len()),
    }
}

/// Parameters of a query or a form.
fn form(parameters: &[u8]) -> String {
    let mut kept = Vec::new();
    for (name, value) in form_urlencoded::parse(parameters) {
        let is_secret = is_secret_name(&name) || name == "code" || has_secret(&value) || has_secret(&name);
        let mut pair = form_urlencoded::Serializer::new(String::new());
        kept.push(match (is_secret, value.is_empty()) {
            (true, false) if has_secret(&name) => REDACTED.to_owned(),
            (true, false) => format!("{}={REDACTED}", pair.append_key_only(&name).finish()),
            _ => pair.append_pair(&name, &value).finish(),
        });
    }
    kept.join("&")
}

/// JSON without secrets. Without any, it is the exact text.
fn json(mut value: Value, exact: &[u8]) -> String {
    match redact(&mut value) {
        true => value.to_string(),
        false => String::from_utf8_lossy(exact).into_owned(),
    }
}

/// Replaces secrets in a value; returns `true` if there were any.
fn redact(value: &mut Value) -> bool {
    match value {
        Value::String(text) if has_secret(text) => {
            REDACTED.clone_into(text);
            true
        }
        Value::Array(values) => {
            let found = values.iter_mut().filter_map(|value| redact(value).then_some(()));
            // counts, since every value must be visited
            found.count() > 0
        }
        Value::Object(members) => members.iter_mut().fold(false, |found, (name, value)| {
            let is_secret = is_secret_name(name) && !value.is_null() && !value.is_boolean();
            let redacted = match is_secret {
                true => {
                    // the state of a charge or a delivery is a word of the API
                    let is_word = name == "state" && value.as_str().is_some_and(is_word);
                    if !is_word {
                        *value = Value::from(REDACTED);
                    }
                    !is_word
                }
                false => redact(value),
            };
            redacted || found
        }),
        _ => false,
    }
}

fn is_word(text: &str) -> bool {
    text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn cut(mut text: String, longest: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn kept(media_type: &'static str, text: &'static str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(media_type));
        content(&headers, Some(&Bytes::from_static(text.as_bytes())))
    }

    /// X9: credentials in header fields are never kept.
    #[test]
    fn secret_header_fields_are_redacted() {
        for (name, value, expected) in [
            ("authorization", "Bearer at_x", "Bearer [redacted]"),
            ("authorization", "very-secret", "Unknown [redacted]"),
            ("cookie", "session=1", "[redacted]"),
            ("set-cookie", "session=1", "[redacted]"),
            ("dpop", "eyJ.a.b", "[redacted]"),
            (
                "location",
                "http://a/?code=ac_1&iss=b",
                "http://a/?code=[redacted]&iss=b",
            ),
            ("x-other", "at_0123456789012345678901", "[redacted]"),
            ("accept", "*/*", "*/*"),
        ] {
            assert_eq!(field(name, value), expected, "{name}: {value}");
        }
    }

    /// X9: secrets in forms and queries are never kept.
    #[test]
    fn secret_parameters_are_redacted() {
        let form = "application/x-www-form-urlencoded";
        for (text, expected) in [
            (
                "grant_type=refresh_token&refresh_token=x",
                "grant_type=refresh_token&refresh_token=[redacted]",
            ),
            (
                "password=a%26b&email=ada%40example.com",
                "password=[redacted]&email=ada%40example.com",
            ),
            (
                "code=x&code_verifier=y&client_secret=z",
                "code=[redacted]&code_verifier=[redacted]&client_secret=[redacted]",
            ),
            ("csrf_token=x&x=", "csrf_token=[redacted]&x="),
        ] {
            assert_eq!(kept(form, text), expected);
        }
        let uri: Uri = "/password/reset?token=x&limit=8".parse().unwrap();
        assert_eq!(target(&uri, 99), "/password/reset?token=[redacted]&limit=8");
    }

    /// X9: secrets in JSON are never kept; other JSON is kept exactly.
    #[test]
    fn secret_members_are_redacted() {
        let json = "application/json; charset=utf-8";
        for (text, expected) in [
            (
                r#"{"access_token":"x","token_type":"Bearer"}"#,
                r#"{"access_token":"[redacted]","token_type":"Bearer"}"#,
            ),
            (
                r#"{"a":[{"secret":"whsec_x"}]}"#,
                r#"{"a":[{"secret":"[redacted]"}]}"#,
            ),
            (
                r#"{"headers":[{"name":"x","value":"y"}]}"#,
                r#"{"headers":[{"name":"x","value":"[redacted]"}]}"#,
            ),
            (
                r#"{ "amount": 1,  "state": "acked" }"#,
                r#"{ "amount": 1,  "state": "acked" }"#,
            ),
            (
                r#"{"note":"use rt_01234567890123456789 now"}"#,
                r#"{"note":"[redacted]"}"#,
            ),
            ("{\"password\":", "[12 bytes, not kept]"),
            (
                r#"{"password":"hunter2","password":null}"#,
                "[38 bytes, not kept]",
            ),
        ] {
            assert_eq!(kept(json, text), expected);
        }
        assert_eq!(kept("text/html", "<b>"), "[3 bytes, not kept]");
        assert_eq!(kept("text/plain", "x"), "[1 bytes, not kept]");
    }

    #[test]
    fn long_content_is_cut_between_characters() {
        let text = cut("é".repeat(5_000), CONTENT);
        assert_eq!(text.chars().count(), CONTENT + 1);
    }
}
