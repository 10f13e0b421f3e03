//! What the body may have been before it arrived.
//!
//! JSON is rewritten token by token, not through a tree: the order of members and the writing of numbers stay what they are.

use std::borrow::Cow;

use super::BodyChange;

/// Larger bodies are tried as they are only.
const MAX_BYTES: usize = 256 * 1024;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The body as it arrived, and what it may have been, with what then happened to it.
pub(super) fn variants(body: &[u8]) -> Vec<(Option<BodyChange>, Cow<'_, [u8]>)> {
    let mut variants: Vec<(Option<BodyChange>, Cow<'_, [u8]>)> = vec![(None, body.into())];
    if body.len() > MAX_BYTES {
        return variants;
    }
    let mut add = |change, was: Cow<'_, [u8]>| variants.push((Some(change), was.into_owned().into()));
    for ending in [b"\r\n".as_slice(), b"\n"] {
        if let Some(was) = body.strip_suffix(ending) {
            add(BodyChange::NewlineAdded, was.into());
        }
        add(BodyChange::NewlineRemoved, [body, ending].concat().into());
    }
    if let Some(was) = body.strip_prefix(BOM) {
        add(BodyChange::ByteOrderMarkAdded, was.into());
    }
    let (lf, crlf) = (to_lf(body), to_crlf(body));
    if lf != body {
        add(BodyChange::LineEndingsToCrlf, lf.into());
    }
    if crlf != body {
        add(BodyChange::LineEndingsToLf, crlf.into());
    }
    if let Ok(text) = str::from_utf8(body)
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    {
        for (change, was) in serialisations(text) {
            add(change, was.into_bytes().into());
        }
    }
    variants
}

fn to_lf(body: &[u8]) -> Vec<u8> {
    let mut was = Vec::with_capacity(body.len());
    for (at, byte) in body.iter().enumerate() {
        if *byte != b'\r' || body.get(at + 1) != Some(&b'\n') {
            was.push(*byte);
        }
    }
    was
}

fn to_crlf(body: &[u8]) -> Vec<u8> {
    let mut was = Vec::with_capacity(body.len());
    for byte in to_lf(body) {
        if byte == b'\n' {
            was.push(b'\r');
        }
        was.push(byte);
    }
    was
}

/// The JSON text as the usual serialisers write it.
fn serialisations(text: &str) -> Vec<(BodyChange, String)> {
    let tokens = tokens(text);
    let raw = |token: &str| token.to_owned();
    let mut all = vec![
        (BodyChange::SignedCompact, joined(&tokens, "", raw)),
        (BodyChange::SignedSpaced, joined(&tokens, " ", raw)),
        (BodyChange::SignedIndented(2), indented(&tokens, "  ")),
        (BodyChange::SignedIndented(4), indented(&tokens, "    ")),
        (
            BodyChange::SignedWithSlashesEscaped,
            joined(&tokens, "", |token| token.replace('/', "\\/")),
        ),
    ];
    for space in ["", " "] {
        all.push((BodyChange::SignedEscaped, joined(&tokens, space, escaped)));
        all.push((BodyChange::SignedUnescaped, joined(&tokens, space, unescaped)));
    }
    all
}

/// Strings, punctuation, and runs of anything else between white space, of a text known to be JSON.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest
                .find(|c: char| c.is_ascii_whitespace() || "{}[],:\"".contains(c))
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The length of the string that `text` begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn joined(tokens: &[&str], space: &str, write: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for token in tokens {
        text.push_str(&write(token));
        if matches!(*token, "," | ":") {
            text.push_str(space);
        }
    }
    text
}

fn indented(tokens: &[&str], by: &str) -> String {
    let (mut text, mut depth, mut before) = (String::new(), 0_usize, "");
    for token in tokens {
        let closes = matches!(*token, "}" | "]");
        depth = depth.saturating_sub(usize::from(closes));
        let opened = matches!(before, "{" | "[");
        if before == "," || (opened != closes) {
            text.push('\n');
            text.push_str(&by.repeat(depth));
        }
        text.push_str(token);
        if *token == ":" {
            text.push(' ');
        }
        depth += usize::from(matches!(*token, "{" | "["));
        before = token;
    }
    text
}

/// A token with `\uXXXX` for all but ASCII.
fn escaped(token: &str) -> String {
    let mut text = String::new();
    for char in token.chars() {
        if char.is_ascii() {
            text.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// A token with all that it can as it is.
fn unescaped(token: &str) -> String {
    if !token.contains('\\') {
        return token.to_owned();
    }
    serde_json::from_str::<String>(token)
        .and_then(|value| serde_json::to_string(&value))
        .unwrap_or_else(|_| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPACT: &str = r#"{"a":[1,{"b":"x\"}, é"},[],{}],"c":-1.50e3,"d":null}"#;

    /// W5: the layouts are those of the usual serialisers, whatever stands inside strings.
    #[test]
    fn json_is_laid_out_as_the_usual_serialisers_do() {
        let value: serde_json::Value =
            serde_json::from_str(r#"{"a":[1,{"b":"x\"}, é"},[],{}],"d":null}"#).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let compact = value.to_string();
        assert_eq!(indented(&tokens(&compact), "  "), pretty);
        assert_eq!(joined(&tokens(&pretty), "", str::to_owned), compact);
        assert_eq!(
            joined(&tokens(COMPACT), " ", escaped),
            r#"{"a": [1, {"b": "x\"}, \u00e9"}, [], {}], "c": -1.50e3, "d": null}"#
        );
        assert_eq!(
            joined(&tokens(r#"["\u00e9\/\u0041 \ud83d\ude00"]"#), "", unescaped),
            r#"["é/A 😀"]"#
        );
        assert_eq!(escaped("😀"), r"\ud83d\ude00");
    }

    /// W5: no text is lost in the rewriting, whatever it is.
    #[test]
    fn every_layout_keeps_its_tokens() {
        for text in [COMPACT, "\"\\\\\"", " 1 ", "[[[]]]", "\"{\"", "{\"\":{\"\":[]}}"] {
            let before = tokens(text);
            for after in [indented(&before, "  "), joined(&before, " ", str::to_owned)] {
                assert_eq!(tokens(&after), before);
            }
        }
    }
}
