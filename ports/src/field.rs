//! Grammar of list fields, [RFC 9110 §5.6](https://www.rfc-editor.org/rfc/rfc9110#section-5.6):
//! members, parameters, tokens and quoted strings.
//!
//! # Performance
//!
//! Values are parsed in place and in one pass, without allocation.

use http::{HeaderMap, HeaderName};

/// Members of a list field over all its lines, in order. Empty members are omitted.
pub fn members<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
    let lines = headers.get_all(name).iter();
    lines.flat_map(|line| split(line.as_bytes(), b','))
}

/// Members of one line of a list field, each split into value and parameters at the first semicolon
/// outside quoted strings.
///
/// A member with neither a value nor parameters is omitted. Parameters are not validated.
///
/// ```
/// use host_ports::field;
///
/// let line = b"text/html;q=0.5, , */*";
/// let members: Vec<_> = field::values(line).collect();
/// assert_eq!(members, [(&b"text/html"[..], &b"q=0.5"[..]), (b"*/*", b"")]);
/// ```
pub fn values(line: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = line;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (value, stop) = split_at_any(rest, |byte| byte == b',' || byte == b';');
            let (parameters, after) = match stop {
                Some((b';', after)) => {
                    let (parameters, stop) = split_at_any(after, |byte| byte == b',');
                    (parameters, stop.map(|(_, after)| after))
                }
                stop => (&b""[..], stop.map(|(_, after)| after)),
            };
            rest = after.unwrap_or_default();
            let (value, parameters) = (trim(value), trim(parameters));
            if !value.is_empty() || !parameters.is_empty() {
                return Some((value, parameters));
            }
        }
        None
    })
}

/// Splits at the first separator outside quoted strings, and returns the separator with the rest.
#[inline]
fn split_at_any(bytes: &[u8], is_separator: impl Fn(u8) -> bool) -> (&[u8], Option<(u8, &[u8])>) {
    let mut position = 0;
    while let Some(byte) = bytes.get(position).copied() {
        if is_separator(byte) {
            let (before, after) = bytes.split_at_checked(position).unwrap_or((bytes, b""));
            return (before, Some((byte, after.get(1..).unwrap_or_default())));
        }
        position = match byte {
            b'"' => end_of_quotes(bytes, position + 1),
            _ => position + 1,
        };
    }
    (bytes, None)
}

/// Parts between separators outside quoted strings, trimmed. Empty parts are omitted.
///
/// An unclosed quoted string extends to the end.
pub fn split(bytes: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let (part, after) = split_once(rest?, separator);
        rest = after;
        Some(trim(part))
    })
    .filter(|part| !part.is_empty())
}

/// Splits at the first separator outside quoted strings. The second part is `None` if there is no
/// separator.
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

/// Position after the closing quote, from the position after the opening quote; the end if no quote
/// closes.
#[inline]
fn end_of_quotes(bytes: &[u8], position: usize) -> usize {
    closing(bytes, position).unwrap_or(bytes.len())
}

/// Position after the closing quote, from the position after the opening quote.
#[inline]
fn closing(bytes: &[u8], mut position: usize) -> Option<usize> {
    loop {
        position = match bytes.get(position)? {
            b'"' => return Some(position + 1),
            b'\\' => position + 2,
            _ => position + 1,
        };
    }
}

/// Position of an unclosed quote, if there is one.
#[must_use]
pub fn open_quote(bytes: &[u8]) -> Option<usize> {
    let mut position = 0;
    loop {
        let ahead = bytes.get(position..)?.iter().position(|byte| *byte == b'"')?;
        let quote = position + ahead;
        let Some(after) = closing(bytes, quote + 1) else {
            return Some(quote);
        };
        position = after;
    }
}

/// Removes the whitespace of [RFC 9110
/// §5.6.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.3) at both ends.
#[inline]
#[must_use]
pub fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// Name and raw value of a parameter; `None` if the parameter has no `=`, or if its name or value
/// is malformed.
#[inline]
#[must_use]
pub fn parameter(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = part.iter().position(|byte| *byte == b'=')?;
    let (name, value) = part.split_at_checked(equals)?;
    let value = value.get(1..)?;
    (is_token(name) && (is_token(value) || is_quoted(value))).then_some((name, value))
}

/// Bytes of a raw parameter value, without quotes and escapes.
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

/// Returns `true` for one quoted string and nothing else.
fn is_quoted(value: &[u8]) -> bool {
    value.first() == Some(&b'"') && closing(value, 1) == Some(value.len())
}

/// Returns `true` for a token, [RFC 9110
/// §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2).
#[inline]
#[must_use]
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| is_tchar(*byte))
}

#[inline]
fn is_tchar(byte: u8) -> bool {
    TCHARS.get(usize::from(byte)).is_some_and(|is_tchar| *is_tchar)
}

/// Lookup table of token characters, because the parser checks every byte of every field.
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

    /// `values` splits a member like two calls of [`split_once`].
    #[test]
    fn members_are_split_into_value_and_parameters() {
        let split = |line: &str| -> Vec<(String, String)> {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let members = values(line.as_bytes());
            members
                .map(|(value, parameters)| (text(value), text(parameters)))
                .collect()
        };
        let expect = |line: &str, expected: &[(&str, &str)]| {
            let expected: Vec<_> = expected
                .iter()
                .map(|(value, parameters)| ((*value).to_owned(), (*parameters).to_owned()))
                .collect();
            assert_eq!(split(line), expected, "{line}");
        };
        expect("a/b", &[("a/b", "")]);
        expect("a/b ; x=1; q=0 , ,c/d;", &[("a/b", "x=1; q=0"), ("c/d", "")]);
        expect(r#"a;x="1,;\",", b"#, &[("a", r#"x="1,;\",""#), ("b", "")]);
        expect(r#"a;x=", b"#, &[("a", r#"x=", b"#)]);
        expect(r#""a;b", c"#, &[(r#""a;b""#, ""), ("c", "")]);
        expect(";q=1, ;", &[("", "q=1")]);
        expect(" ,, ", &[]);
    }

    #[test]
    fn open_quote_is_found() {
        for (text, quote) in [
            ("", None),
            ("a=b", None),
            (r#"a="b""#, None),
            (r#"a="b\"""#, None),
            (r#"a="b"; c=""#, Some(9)),
            (r#"a="b\""#, Some(2)),
            (r#"a="b\"#, Some(2)),
        ] {
            assert_eq!(open_quote(text.as_bytes()), quote, "{text}");
        }
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
            // `http` accepts a quote in names, although the grammar forbids it
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
            let kept: usize = values(&line).map(|(value, parameters)| value.len() + parameters.len()).sum();
            proptest::prop_assert!(kept <= line.len());
            // an unclosed quote extends to the end, so at most one part contains one
            let open = split(&line, b',').filter(|part| open_quote(part).is_some()).count();
            proptest::prop_assert_eq!(open, usize::from(open_quote(&line).is_some()));
        }
    }
}
