//! Variants of the body that the sender may have signed.
//!
//! JSON is rewritten token by token, not through a tree, so that the order of members and the text
//! of numbers stay unchanged.

use std::borrow::Cow;

use super::BodyChange;

/// Larger bodies are tried only as they arrived.
const MAX_BYTES: usize = 256 * 1024;
/// Maximum growth of an indented variant, relative to the body.
///
/// The indentation of nested brackets grows with the square of their depth.
const MAX_GROWTH: usize = 8;
const SMALL: usize = 1024;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The body as it arrived, and its variants, each with the change that it assumes.
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

/// The JSON text in the layouts of common serializers.
fn serialisations(text: &str) -> Vec<(BodyChange, String)> {
    let tokens = tokens(text);
    let raw = |token: &str| token.to_owned();
    let mut all = vec![
        (BodyChange::SignedCompact, joined(&tokens, "", raw)),
        (BodyChange::SignedSpaced, joined(&tokens, " ", raw)),
        (
            BodyChange::SignedWithSlashesEscaped,
            joined(&tokens, "", |token| token.replace('/', "\\/")),
        ),
    ];
    let longest = MAX_GROWTH * text.len() + SMALL;
    for (by, spaces) in [(2, "  "), (4, "    ")] {
        all.extend(indented(&tokens, spaces, longest).map(|was| (BodyChange::SignedIndented(by), was)));
    }
    for space in ["", " "] {
        all.push((BodyChange::SignedEscaped, joined(&tokens, space, escaped)));
        all.push((BodyChange::SignedUnescaped, joined(&tokens, space, unescaped)));
    }
    all
}

/// Splits valid JSON into strings, punctuation and other tokens, without white space.
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

/// Length of the string at the beginning of `text`, with its quotes.
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

/// Indents the tokens; `None` if the result would be longer than `longest`.
fn indented(tokens: &[&str], by: &str, longest: usize) -> Option<String> {
    let (mut text, mut depth, mut before) = (String::new(), 0_usize, "");
    for token in tokens {
        if text.len() + token.len() + by.len() * depth + "\n ".len() > longest {
            return None;
        }
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
    Some(text)
}

/// A token with `\uXXXX` for every character outside ASCII.
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

/// A token with every escape replaced that JSON does not require.
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
    use proptest::prelude::*;

    use super::*;

    const COMPACT: &str = r#"{"a":[1,{"b":"x\"}, é"},[],{}],"c":-1.50e3,"d":null}"#;

    /// W5: the layouts equal those of common serializers, also around the content of strings.
    #[test]
    fn json_is_laid_out_as_the_usual_serialisers_do() {
        let value: serde_json::Value =
            serde_json::from_str(r#"{"a":[1,{"b":"x\"}, é"},[],{}],"d":null}"#).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let compact = value.to_string();
        assert_eq!(indented(&tokens(&compact), "  ", 1000).as_ref(), Some(&pretty));
        assert_eq!(indented(&tokens(&compact), "  ", pretty.len() / 2), None);
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

    /// W5: a change of the layout keeps all tokens.
    #[test]
    fn every_layout_keeps_its_tokens() {
        for text in [COMPACT, "\"\\\\\"", " 1 ", "[[[]]]", "\"{\"", "{\"\":{\"\":[]}}"] {
            let before = tokens(text);
            for after in [
                indented(&before, "  ", 1000).unwrap(),
                joined(&before, " ", str::to_owned),
            ] {
                assert_eq!(tokens(&after), before);
            }
        }
    }

    /// W5: a body of many brackets, or of many small tokens at some depth, has no variant of
    /// gigabytes.
    #[test]
    fn no_variant_is_much_longer_than_the_body() {
        let nested = |depth, middle: &str| format!("{}{middle}{}", "[".repeat(depth), "]".repeat(depth));
        for body in [
            nested(MAX_BYTES / 2, ""),
            nested(127, &vec!["1"; MAX_BYTES / 2 - 127].join(",")),
            nested(2000, &vec!["[1]"; MAX_BYTES / 4 - 1000].join(",")),
            format!("{}0{}", "{\"\":".repeat(50_000), "}".repeat(50_000)),
        ] {
            let variants = variants(body.as_bytes());
            assert!(variants.len() >= 10, "too large, or no JSON");
            assert!(variants.iter().all(|(_, was)| was.len() <= 8 * body.len() + 1024));
        }
    }

    proptest! {
        /// W5: for any repetition of tokens, the length of every variant is bounded by that of the
        /// body.
        #[test]
        fn every_variant_is_bounded_by_the_body(runs in prop::collection::vec(
            (prop::sample::select(vec!["[", "{\"\":", "[1,", "\"é\",", "\"\\n/\",", "\r\n", "\n", " ", "]", "}", "1"]), 1_usize..3000),
            1..6,
        )) {
            let mut body = String::new();
            let mut open = Vec::new();
            for (piece, times) in runs {
                body.push_str(&piece.repeat(times));
                let closing = if piece.contains('[') { "]" } else { "}" };
                open.extend(piece.contains(['[', '{']).then(|| closing.repeat(times)));
            }
            // few of these texts are JSON, so the closed form is tried too
            let closed = format!("{body}0{}", open.into_iter().rev().collect::<String>());
            for body in [body, closed] {
                for (change, was) in variants(body.as_bytes()) {
                    prop_assert!(was.len() <= 8 * body.len() + 1024, "{change:?}: {} of {}", was.len(), body.len());
                }
            }
        }
    }
}
