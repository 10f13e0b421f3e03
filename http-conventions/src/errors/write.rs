//! Writes a problem as JSON, in one pass over one buffer.

use bytes::Bytes;

use super::{Member, Parts};

const STANDARD_MEMBERS: [&str; 5] = ["type", "title", "status", "detail", "instance"];
const HEX: &[u8; 16] = b"0123456789abcdef";

pub(super) fn problem(problem: &Parts) -> Bytes {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"type\":");
    string(&mut out, &problem.type_uri);
    out.extend_from_slice(b",\"title\":");
    string(&mut out, &problem.title);
    out.extend_from_slice(b",\"status\":");
    out.extend_from_slice(problem.status.as_str().as_bytes());
    if let Some(detail) = &problem.detail {
        out.extend_from_slice(b",\"detail\":");
        string(&mut out, detail);
    }
    if let Some(instance) = &problem.instance {
        out.extend_from_slice(b",\"instance\":");
        string(&mut out, instance);
    }
    for (name, value) in &problem.extensions {
        if !STANDARD_MEMBERS.contains(name) {
            out.push(b',');
            named(&mut out, name, value);
        }
    }
    out.push(b'}');
    Bytes::from(out)
}

/// Appends a text member to a JSON object.
pub(super) fn with_member(object: &[u8], name: &str, value: &str) -> Bytes {
    let inner = object.trim_ascii_end();
    let inner = inner.strip_suffix(b"}").unwrap_or(inner);
    let mut out = Vec::with_capacity(object.len() + name.len() + value.len() + 8);
    out.extend_from_slice(inner);
    if !inner.trim_ascii().ends_with(b"{") {
        out.push(b',');
    }
    string(&mut out, name);
    out.push(b':');
    string(&mut out, value);
    out.push(b'}');
    Bytes::from(out)
}

fn named(out: &mut Vec<u8>, name: &str, value: &Member) {
    string(out, name);
    out.push(b':');
    member(out, value);
}

fn member(out: &mut Vec<u8>, value: &Member) {
    match value {
        Member::Bool(true) => out.extend_from_slice(b"true"),
        Member::Bool(false) => out.extend_from_slice(b"false"),
        Member::Integer(number) => integer(out, *number),
        // `{:?}` writes large and small numbers with an exponent, which is valid JSON
        Member::Number(number) if number.is_finite() => {
            out.extend_from_slice(format!("{number:?}").as_bytes());
        }
        Member::Null | Member::Number(_) => out.extend_from_slice(b"null"),
        Member::Text(text) => string(out, text),
        Member::List(values) => list(out, b"[]", values, member),
        Member::Object(members) => list(out, b"{}", members, |out, (name, value)| named(out, name, value)),
    }
}

fn list<T>(out: &mut Vec<u8>, brackets: &[u8; 2], items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    let [open, close] = *brackets;
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(close);
}

/// Writes the digits from last to first into a buffer that holds every 64-bit integer.
fn integer(out: &mut Vec<u8>, number: i64) {
    let mut digits = [0; 20];
    let mut rest = number.unsigned_abs();
    let mut length = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10).to_le_bytes()[0];
        length += 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend(digits.iter().skip(digits.len() - length));
}

/// Writes a JSON string; runs without escapes are copied whole.
fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    // most texts need no escape; a full scan is the fastest check
    if !rest.iter().fold(false, |found, byte| found | needs_escape(*byte)) {
        out.extend_from_slice(rest);
        out.push(b'"');
        return;
    }
    while let Some(at) = rest.iter().position(|byte| needs_escape(*byte)) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((byte, tail)) = tail.split_first() else {
            break;
        };
        escape(out, *byte);
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

const fn needs_escape(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => {
            let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}
