//! Writes a `Link` field, [RFC 8288 §3](https://www.rfc-editor.org/rfc/rfc8288#section-3).

use http::HeaderValue;

use super::Relation;
use crate::{content::MediaType, routing::Location, uri::push_percent_encoded};

pub(super) fn link(
    href: &Location,
    relation: &Relation,
    title: Option<&str>,
    media_type: Option<&MediaType>,
) -> HeaderValue {
    let target = href.header_value();
    let mut line = Vec::with_capacity(64);
    for part in [
        b"<",
        target.as_bytes(),
        b">; rel=\"",
        relation.as_str().as_bytes(),
        b"\"",
    ] {
        line.extend_from_slice(part);
    }
    if let Some(media_type) = media_type {
        line.extend_from_slice(b"; type=");
        quoted(&mut line, media_type.as_str());
    }
    match title {
        Some(title) if title.bytes().all(|byte| matches!(byte, b' '..=b'~')) => {
            line.extend_from_slice(b"; title=");
            quoted(&mut line, title);
        }
        Some(title) => {
            line.extend_from_slice(b"; title*=UTF-8''");
            title.bytes().for_each(|byte| extended(&mut line, byte));
        }
        None => {}
    }
    // every byte is visible ASCII or a space
    HeaderValue::try_from(line).unwrap_or(target)
}

/// Writes a quoted string, [RFC 9110 §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4).
fn quoted(line: &mut Vec<u8>, text: &str) {
    line.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            line.push(b'\\');
        }
        line.push(byte);
    }
    line.push(b'"');
}

/// Writes `attr-char` verbatim and percent-encodes the rest, [RFC 8187
/// §3.2.1](https://www.rfc-editor.org/rfc/rfc8187#section-3.2.1).
fn extended(line: &mut Vec<u8>, byte: u8) {
    match byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
        true => line.push(byte),
        false => push_percent_encoded(line, byte),
    }
}
