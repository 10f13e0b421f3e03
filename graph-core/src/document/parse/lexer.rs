//! Tokens ([Lexical Tokens](https://spec.graphql.org/September2025/#sec-Language.Source-Text)).

use super::SyntaxError;
use super::strings::{block_string, string};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Start,
    End,
    Bang,
    Dollar,
    Ampersand,
    ParenLeft,
    ParenRight,
    Spread,
    Colon,
    Equals,
    At,
    BracketLeft,
    BracketRight,
    BraceLeft,
    Pipe,
    BraceRight,
    Name,
    Int,
    Float,
    /// `true` if the text contains escapes.
    String(bool),
    BlockString,
}

impl Kind {
    /// The kind as messages name it.
    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Start => "<SOF>",
            Self::End => "<EOF>",
            Self::Bang => "\"!\"",
            Self::Dollar => "\"$\"",
            Self::Ampersand => "\"&\"",
            Self::ParenLeft => "\"(\"",
            Self::ParenRight => "\")\"",
            Self::Spread => "\"...\"",
            Self::Colon => "\":\"",
            Self::Equals => "\"=\"",
            Self::At => "\"@\"",
            Self::BracketLeft => "\"[\"",
            Self::BracketRight => "\"]\"",
            Self::BraceLeft => "\"{\"",
            Self::Pipe => "\"|\"",
            Self::BraceRight => "\"}\"",
            Self::Name => "Name",
            Self::Int => "Int",
            Self::Float => "Float",
            Self::String(_) => "String",
            Self::BlockString => "BlockString",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Byte offsets.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Reads the token after the offset `from`.
pub(super) fn token(text: &str, from: usize) -> Result<Token, SyntaxError> {
    let bytes = text.as_bytes();
    let start = after_ignored(bytes, from);
    let token = |kind, length| {
        Ok(Token {
            kind,
            start,
            end: start + length,
        })
    };
    let Some(byte) = bytes.get(start) else {
        return token(Kind::End, 0);
    };
    let rest = bytes.get(start..).unwrap_or_default();
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
            let length = rest.iter().take_while(|byte| is_name(**byte)).count();
            token(Kind::Name, length)
        }
        b'{' => token(Kind::BraceLeft, 1),
        b'}' => token(Kind::BraceRight, 1),
        b'(' => token(Kind::ParenLeft, 1),
        b')' => token(Kind::ParenRight, 1),
        b':' => token(Kind::Colon, 1),
        b'$' => token(Kind::Dollar, 1),
        b'!' => token(Kind::Bang, 1),
        b'[' => token(Kind::BracketLeft, 1),
        b']' => token(Kind::BracketRight, 1),
        b'@' => token(Kind::At, 1),
        b'=' => token(Kind::Equals, 1),
        b'|' => token(Kind::Pipe, 1),
        b'&' => token(Kind::Ampersand, 1),
        b'.' if rest.starts_with(b"...") => token(Kind::Spread, 3),
        b'"' if rest.starts_with(b"\"\"\"") => block_string(text, start),
        b'"' => string(text, start),
        b'0'..=b'9' | b'-' => number(text, start),
        b'\'' => {
            let why = "Unexpected single quote character ('), did you mean to use a double quote (\")?";
            Err(SyntaxError::new(start, why))
        }
        _ => {
            let why = format!("Unexpected character: {}.", printed(text, start));
            Err(SyntaxError::new(start, why))
        }
    }
}

/// Skips white space, commas, comments and byte order marks.
fn after_ignored(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\n' | b',' | b'\t' | b'\r') => at += 1,
            Some(b'#') => {
                let comment = bytes.get(at..).unwrap_or_default().iter();
                at += comment.take_while(|byte| !matches!(byte, b'\n' | b'\r')).count();
            }
            Some(0xef) if bytes.get(at..at + 3) == Some(&[0xef, 0xbb, 0xbf]) => at += 3,
            _ => return at,
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn number(text: &str, start: usize) -> Result<Token, SyntaxError> {
    let bytes = text.as_bytes();
    let (mut at, mut kind) = (start, Kind::Int);
    let is = |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|byte| wanted.contains(byte));
    if is(at, b"-") {
        at += 1;
    }
    if is(at, b"0") {
        at += 1;
        if bytes.get(at).is_some_and(u8::is_ascii_digit) {
            let why = format!("Invalid number, unexpected digit after 0: {}.", printed(text, at));
            return Err(SyntaxError::new(at, why));
        }
    } else {
        at = digits(text, at)?;
    }
    if is(at, b".") {
        kind = Kind::Float;
        at = digits(text, at + 1)?;
    }
    if is(at, b"eE") {
        kind = Kind::Float;
        at += 1;
        if is(at, b"+-") {
            at += 1;
        }
        at = digits(text, at)?;
    }
    // otherwise `1x` would be two tokens
    let next = bytes.get(at);
    if next.is_some_and(|byte| *byte == b'.' || is_name(*byte)) {
        return Err(expected_digit(text, at));
    }
    Ok(Token { kind, start, end: at })
}

/// End of the digits from `at`, of which there must be one.
fn digits(text: &str, at: usize) -> Result<usize, SyntaxError> {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => Err(expected_digit(text, at)),
        length => Ok(at + length),
    }
}

fn expected_digit(text: &str, at: usize) -> SyntaxError {
    let why = format!("Invalid number, expected digit but got: {}.", printed(text, at));
    SyntaxError::new(at, why)
}

/// The character at `at` as messages print it.
pub(super) fn printed(text: &str, at: usize) -> String {
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        None => "<EOF>".to_owned(),
        Some('"') => "'\"'".to_owned(),
        Some(character @ ' '..='~') => format!("\"{character}\""),
        Some(character) => format!("U+{:04X}", u32::from(character)),
    }
}
