//! Strings and block strings
//! ([String Value](https://spec.graphql.org/September2025/#sec-String-Value)).

use std::borrow::Cow;

use super::SyntaxError;
use super::lexer::{Kind, Token};

/// Reads the string that starts at `start`, without its value.
pub(super) fn string(text: &str, start: usize) -> Result<Token, SyntaxError> {
    let bytes = text.as_bytes();
    let (mut at, mut is_escaped) = (start + 1, false);
    loop {
        match bytes.get(at) {
            Some(b'"') => break,
            Some(b'\\') => {
                is_escaped = true;
                at += escape(text, at)?.1;
            }
            None | Some(b'\n' | b'\r') => return Err(SyntaxError::new(at, "Unterminated string.")),
            Some(_) => at += 1,
        }
    }
    Ok(Token {
        kind: Kind::String(is_escaped),
        start,
        end: at + 1,
    })
}

/// Reads the block string that starts at `start`, without its value.
pub(super) fn block_string(text: &str, start: usize) -> Result<Token, SyntaxError> {
    let bytes = text.as_bytes();
    let mut at = start + 3;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return Err(SyntaxError::new(at, "Unterminated string."));
        }
        if rest.starts_with(b"\"\"\"") {
            break;
        }
        at += if rest.starts_with(b"\\\"\"\"") { 4 } else { 1 };
    }
    Ok(Token {
        kind: Kind::BlockString,
        start,
        end: at + 3,
    })
}

/// Value of a string token of `text`.
pub(super) fn value(text: &str, token: Token) -> Cow<'_, str> {
    let quotes = if token.kind == Kind::BlockString { 3 } else { 1 };
    let inner = text.get(token.start + quotes..token.end - quotes);
    let inner = inner.unwrap_or_default();
    match token.kind {
        Kind::BlockString => Cow::Owned(dedented(inner)),
        Kind::String(true) => Cow::Owned(unescaped(inner)),
        _ => Cow::Borrowed(inner),
    }
}

fn unescaped(inner: &str) -> String {
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        let (before, escaped) = rest.split_at(at);
        value.push_str(before);
        // the lexer has checked the escapes
        let Ok((character, length)) = escape(escaped, 0) else {
            break;
        };
        value.push(character);
        rest = escaped.get(length..).unwrap_or_default();
    }
    value.push_str(rest);
    value
}

/// Character and length of the escape sequence at `at`.
fn escape(text: &str, at: usize) -> Result<(char, usize), SyntaxError> {
    let bytes = text.as_bytes();
    let simple = |character| Ok((character, 2));
    match bytes.get(at + 1) {
        Some(b'"') => simple('"'),
        Some(b'\\') => simple('\\'),
        Some(b'/') => simple('/'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') if bytes.get(at + 2) == Some(&b'{') => variable_width(text, at),
        Some(b'u') => fixed_width(text, at),
        _ => {
            let why = format!("Invalid character escape sequence: \"{}\".", cut(text, at, 2));
            Err(SyntaxError::new(at, why))
        }
    }
}

/// `\u{1F600}`, of at most eight digits.
fn variable_width(text: &str, at: usize) -> Result<(char, usize), SyntaxError> {
    let bytes = text.as_bytes();
    let (mut point, mut size) = (0_u32, 3);
    while size < 12 {
        let byte = bytes.get(at + size);
        size += 1;
        if byte == Some(&b'}') {
            if let (5.., Some(character)) = (size, char::from_u32(point)) {
                return Ok((character, size));
            }
            break;
        }
        match byte.and_then(|byte| char::from(*byte).to_digit(16)) {
            // a value with more bits than fit is not a character either
            Some(digit) if point >> 27 == 0 => point = point << 4 | digit,
            _ => break,
        }
    }
    Err(invalid_unicode(text, at, size))
}

/// `\u00e9`, or a pair of surrogates.
fn fixed_width(text: &str, at: usize) -> Result<(char, usize), SyntaxError> {
    let bytes = text.as_bytes();
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 4)?.iter();
        let mut digits = digits.map(|byte| char::from(*byte).to_digit(16));
        digits.try_fold(0, |value, digit| Some(value << 4 | digit?))
    };
    let first = unit(at + 2);
    if let Some(character) = first.and_then(char::from_u32) {
        return Ok((character, 6));
    }
    let is_pair = bytes.get(at + 6..at + 8) == Some(b"\\u");
    let second = if is_pair { unit(at + 8) } else { None };
    if let (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) = (first, second)
        && let Some(character) = char::from_u32(0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00)))
    {
        return Ok((character, 12));
    }
    Err(invalid_unicode(text, at, 6))
}

fn invalid_unicode(text: &str, at: usize, size: usize) -> SyntaxError {
    let why = format!("Invalid Unicode escape sequence: \"{}\".", cut(text, at, size));
    SyntaxError::new(at, why)
}

/// The text of `length` UTF-16 code units from `at`. Half of a pair is shown as U+FFFD.
fn cut(text: &str, at: usize, length: usize) -> String {
    let units = text.get(at..).unwrap_or_default().encode_utf16();
    String::from_utf16_lossy(&units.take(length).collect::<Vec<_>>())
}

/// Value of a block string
/// ([BlockStringValue](https://spec.graphql.org/September2025/#BlockStringValue())).
fn dedented(raw: &str) -> String {
    let lines = lines(raw);
    let indent = |line: &str| line.bytes().take_while(|byte| is_white(*byte)).count();
    let is_blank = |line: &str| line.bytes().all(is_white);
    let common = lines.iter().skip(1).filter(|line| !is_blank(line));
    let common = common.map(|line| indent(line)).min().unwrap_or(0);
    let first = lines.iter().position(|line| !is_blank(line));
    let last = lines.iter().rposition(|line| !is_blank(line));
    let (Some(first), Some(last)) = (first, last) else {
        return String::new();
    };
    let mut value = String::with_capacity(raw.len());
    for (at, line) in lines.iter().enumerate().take(last + 1).skip(first) {
        if at > first {
            value.push('\n');
        }
        value.push_str(if at == 0 {
            line
        } else {
            line.get(common..).unwrap_or_default()
        });
    }
    value.replace("\\\"\"\"", "\"\"\"")
}

/// Lines that end with LF, CR or CRLF.
fn lines(raw: &str) -> Vec<&str> {
    let lines = raw
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut lines: Vec<_> = lines.flat_map(|line| line.split('\r')).collect();
    // a CR at the very end does not precede a LF, so it ends a line of its own
    if raw.ends_with('\r') {
        lines.push("");
    }
    lines
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
