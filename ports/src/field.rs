//! The common grammar of list fields, [RFC 9110 §5.6](https://www.rfc-editor.org/rfc/rfc9110#section-5.6): members, parameters,
//! tokens and quoted strings.
//!
//! # Performance
//!
//! Values are read in place and in one pass, without allocation.

use http::{HeaderMap, HeaderName};

/// The members of a list field over all its lines, in order, without the empty ones.
pub fn members<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
    let lines = headers.get_all(name).iter();
    lines.flat_map(|line| split(line.as_bytes(), b','))
}

/// The parts between separators outside quoted strings, without surrounding whitespace and without the empty ones.
///
/// A quoted string that is not closed extends to the end.
pub fn split(bytes: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let (part, after) = split_once(rest?, separator);
        rest = after;
        Some(trim(part))
    })
    .filter(|part| !part.is_empty())
}

/// Splits at the first separator outside quoted strings; `None` if there is no separator.
#[inline]
#[must_use]
pub fn split_once(bytes: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    let mut position = 0;
    loop {
        let rest = bytes.get(position..).unwrap_or_default();
        let Some(ahead) = rest.iter().position(|byte| *byte == separator || *byte == b'"') else {
            return (bytes, None);
        };
        position += ahead;
        if bytes.get(position) == Some(&separator) {
            let (before, after) = bytes.split_at_checked(position).unwrap_or((bytes, b""));
            return (before, after.get(1..));
        }
        position = end_of_quotes(bytes, position + 1);
    }
}

/// The position after the quote that closes, from the one after the quote that opens.
#[inline]
fn end_of_quotes(bytes: &[u8], mut position: usize) -> usize {
    loop {
        position = match bytes.get(position) {
            None => return bytes.len(),
            Some(b'"') => return position + 1,
            Some(b'\\') => position + 2,
            Some(_) => position + 1,
        };
    }
}

/// Removes the whitespace of [RFC 9110 §5.6.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.3) at both ends.
#[inline]
#[must_use]
pub fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// The name and the raw value of a parameter; `None` if the parameter has no `=` or either side is malformed.
#[inline]
#[must_use]
pub fn parameter(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = part.iter().position(|byte| *byte == b'=')?;
    let (name, value) = part.split_at_checked(equals)?;
    let value = value.get(1..)?;
    (is_token(name) && (is_token(value) || is_quoted(value))).then_some((name, value))
}

/// The bytes of a raw parameter value, without quotes and escapes.
pub fn unquoted(raw: &[u8]) -> impl Iterator<Item = u8> {
    let inner = raw
        .strip_prefix(b"\"")
        .map(|inner| inner.strip_suffix(b"\"").unwrap_or(inner));
    let is_quoted = inner.is_some();
    let mut is_escaped = false;
    inner.unwrap_or(raw).iter().copied().filter(move |byte| {
        is_escaped = is_quoted && *byte == b'\\' && !is_escaped;
        !is_escaped
    })
}

/// Whether this is one quoted string and nothing else.
fn is_quoted(value: &[u8]) -> bool {
    value.first() == Some(&b'"')
        && value.len() > 1
        && end_of_quotes(value, 1) == value.len()
        && ends_closed(value)
}

/// Whether the last quote of a quoted string closes it: an escaped one does not.
fn ends_closed(value: &[u8]) -> bool {
    let escapes = value
        .iter()
        .rev()
        .skip(1)
        .take_while(|byte| **byte == b'\\')
        .count();
    value.last() == Some(&b'"') && escapes % 2 == 0
}

/// Returns `true` for a token, [RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
#[inline]
#[must_use]
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| is_tchar(*byte))
}

#[inline]
fn is_tchar(byte: u8) -> bool {
    TCHARS.get(usize::from(byte)).is_some_and(|is_tchar| *is_tchar)
}

/// Which bytes tokens are made of: looked up, as this is asked for every byte of every field.
static TCHARS: [bool; 256] = {
    let mut table = [false; 256];
    let (mut rest, mut byte) = (&mut table as &mut [bool], 0_u8);
    while let [is_tchar, others @ ..] = rest {
        let is_mark = matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        );
        *is_tchar = is_mark || byte.is_ascii_alphanumeric();
        byte = byte.wrapping_add(1);
        rest = others;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        split(text.as_bytes(), b',')
            .map(|part| std::str::from_utf8(part).unwrap())
            .collect()
    }

    #[test]
    fn separators_in_quotes_separate_nothing() {
        assert_eq!(parts("a, b ,,\tc,"), ["a", "b", "c"]);
        assert_eq!(parts(r#"a="x,y", b"#), [r#"a="x,y""#, "b"]);
        assert_eq!(parts(r#"a="x\",y", b"#), [r#"a="x\",y""#, "b"]);
        assert_eq!(parts(r#"a="x, b"#), [r#"a="x, b"#]);
        assert_eq!(parts(r#""\"#), [r#""\"#]);
        assert!(parts(" , ,").is_empty());
    }

    #[test]
    fn a_parameter_is_a_token_and_a_token_or_quoted_string() {
        let value = |text: &str| -> Option<String> {
            let (_, raw) = parameter(text.as_bytes())?;
            Some(unquoted(raw).map(char::from).collect())
        };
        assert_eq!(value("a=b").unwrap(), "b");
        assert_eq!(value(r#"a="b;\"c\\""#).unwrap(), r#"b;"c\"#);
        assert_eq!(value(r#"a="""#).unwrap(), "");
        for malformed in [
            "a",
            "a=",
            "=b",
            "a =b",
            "a= b",
            r#"a=""#,
            r#"a="b\""#,
            r#"a="b"c"#,
            "a=b c",
            "a=\u{fc}",
        ] {
            assert_eq!(value(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn tokens_are_of_the_bytes_that_header_names_have() {
        for byte in 0..=255_u8 {
            // `http` lets a quote pass, against the grammar that it cites
            let expected = byte != b'"' && HeaderName::from_bytes(&[byte]).is_ok();
            assert_eq!(is_token(&[byte]), expected, "{byte}");
        }
    }

    proptest::proptest! {
        #[test]
        fn splitting_never_panics_and_loses_nothing_but_separators(line: Vec<u8>) {
            let kept: usize = split(&line, b',').map(<[u8]>::len).sum();
            proptest::prop_assert!(kept <= line.len());
            for part in split(&line, b',') {
                let _ = parameter(part).map(|(_, raw)| unquoted(raw).count());
            }
        }
    }
}
