//! Dictionaries of structured fields, [RFC 9651
//! §4.2.2](https://www.rfc-editor.org/rfc/rfc9651#section-4.2.2).
//!
//! The parser checks the whole grammar, so that a malformed field is malformed for every reader. It
//! is compared with the crate `sfv` in its tests.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use http::{HeaderMap, HeaderName};

/// Padding is optional, and unused bits are ignored, [RFC 9651
/// §4.2.7](https://www.rfc-editor.org/rfc/rfc9651#section-4.2.7).
static BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Value of a member.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Bytes(Vec<u8>),
    /// A value of another type, or an inner list.
    Other,
}

/// The field does not match the grammar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Malformed;

type Parsed<T> = Result<T, Malformed>;

/// Reads a dictionary over all lines of a field. Calls `member` for each member; the last one of a
/// key counts. Parameters are checked and ignored.
pub(crate) fn dictionary(
    headers: &HeaderMap,
    name: &HeaderName,
    mut member: impl FnMut(&[u8], Value),
) -> Parsed<()> {
    let lines: Vec<&[u8]> = headers.get_all(name).iter().map(|line| line.as_bytes()).collect();
    match lines.as_slice() {
        [line] => parse(line, &mut member),
        lines => parse(&lines.join(&b", "[..]), &mut member),
    }
}

fn parse(text: &[u8], member: &mut impl FnMut(&[u8], Value)) -> Parsed<()> {
    let mut cursor = Cursor(text);
    cursor.skip(b" ");
    while !cursor.0.is_empty() {
        let key = cursor.key()?;
        let value = match cursor.take(b'=') {
            true => cursor.member_value()?,
            false => Value::Other,
        };
        cursor.parameters()?;
        member(key, value);
        cursor.skip(b" \t");
        if cursor.0.is_empty() {
            return Ok(());
        }
        cursor.expect(b',')?;
        cursor.skip(b" \t");
        if cursor.0.is_empty() {
            return Err(Malformed);
        }
    }
    Ok(())
}

/// Rest of the field.
#[derive(Clone, Copy)]
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn peek(self) -> Option<u8> {
        self.0.first().copied()
    }

    fn next(&mut self) -> Parsed<u8> {
        let (byte, rest) = self.0.split_first().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*byte)
    }

    fn take(&mut self, expected: u8) -> bool {
        let rest = self.0.strip_prefix(&[expected]);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, expected: u8) -> Parsed<()> {
        self.take(expected).then_some(()).ok_or(Malformed)
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.take_while(|byte| bytes.contains(&byte));
    }

    fn take_while(&mut self, accepts: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !accepts(*byte));
        let (taken, rest) = self
            .0
            .split_at_checked(end.unwrap_or(self.0.len()))
            .unwrap_or((self.0, b""));
        self.0 = rest;
        taken
    }

    fn key(&mut self) -> Parsed<&'a [u8]> {
        let starts = |byte: u8| byte.is_ascii_lowercase() || byte == b'*';
        if !self.peek().is_some_and(starts) {
            return Err(Malformed);
        }
        Ok(self.take_while(|byte| starts(byte) || byte.is_ascii_digit() || b"_-.".contains(&byte)))
    }

    fn member_value(&mut self) -> Parsed<Value> {
        match self.take(b'(') {
            true => self.inner_list(),
            false => self.bare_item(),
        }
    }

    /// The rest of an inner list, after its opening parenthesis.
    fn inner_list(&mut self) -> Parsed<Value> {
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Ok(Value::Other);
            }
            self.bare_item()?;
            self.parameters()?;
            if !matches!(self.peek(), Some(b' ' | b')')) {
                return Err(Malformed);
            }
        }
    }

    fn parameters(&mut self) -> Parsed<()> {
        while self.take(b';') {
            self.skip(b" ");
            self.key()?;
            if self.take(b'=') {
                self.bare_item()?;
            }
        }
        Ok(())
    }

    fn bare_item(&mut self) -> Parsed<Value> {
        match self.peek().ok_or(Malformed)? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.string().map(|()| Value::Other),
            b':' => self.bytes(),
            b'?' => self.boolean().map(|()| Value::Other),
            b'@' => {
                self.next()?;
                match self.number()? {
                    Value::Integer(_) => Ok(Value::Other),
                    _ => Err(Malformed),
                }
            }
            b'%' => self.display_string().map(|()| Value::Other),
            b'*' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.take_while(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte));
                Ok(Value::Other)
            }
            _ => Err(Malformed),
        }
    }

    fn number(&mut self) -> Parsed<Value> {
        let is_negative = self.take(b'-');
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if self.peek() == Some(b'.') && (1..=12).contains(&digits.len()) {
            self.next()?;
            let fraction = self.take_while(|byte| byte.is_ascii_digit());
            let is_valid = (1..=3).contains(&fraction.len());
            return is_valid.then_some(Value::Other).ok_or(Malformed);
        }
        if !(1..=15).contains(&digits.len()) || self.peek() == Some(b'.') {
            return Err(Malformed);
        }
        let number = digits
            .iter()
            .fold(0, |number: i64, digit| number * 10 + i64::from(digit - b'0'));
        Ok(Value::Integer(if is_negative { -number } else { number }))
    }

    fn string(&mut self) -> Parsed<()> {
        self.expect(b'"')?;
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' if !matches!(self.next()?, b'"' | b'\\') => return Err(Malformed),
                b'\\' | b' '..=b'~' => {}
                _ => return Err(Malformed),
            }
        }
    }

    fn bytes(&mut self) -> Parsed<Value> {
        self.expect(b':')?;
        let text = self.take_while(|byte| byte != b':');
        self.expect(b':')?;
        BASE64.decode(text).map(Value::Bytes).map_err(|_| Malformed)
    }

    fn boolean(&mut self) -> Parsed<()> {
        self.expect(b'?')?;
        matches!(self.next()?, b'0' | b'1').then_some(()).ok_or(Malformed)
    }

    /// A string of percent-encoded UTF-8.
    fn display_string(&mut self) -> Parsed<()> {
        self.expect(b'%')?;
        self.expect(b'"')?;
        let mut text = Vec::new();
        loop {
            match self.next()? {
                b'"' => break,
                b'%' => {
                    let high = lower_hex(self.next()?)?;
                    text.push(high << 4 | lower_hex(self.next()?)?);
                }
                byte @ b' '..=b'~' => text.push(byte),
                _ => return Err(Malformed),
            }
        }
        std::str::from_utf8(&text).map(|_| ()).map_err(|_| Malformed)
    }
}

const fn lower_hex(digit: u8) -> Parsed<u8> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const NAME: HeaderName = HeaderName::from_static("content-digest");

    fn members(lines: &[&[u8]]) -> Parsed<Vec<(String, Value)>> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(NAME, HeaderValue::from_bytes(line).unwrap());
        }
        let mut members = Vec::new();
        dictionary(&headers, &NAME, |key, value| {
            members.push((String::from_utf8_lossy(key).into_owned(), value));
        })?;
        Ok(members)
    }

    /// H33: a dictionary continues over the lines of its field.
    #[test]
    fn members_of_all_lines_are_read() {
        let read = members(&[b"a=1, b=:AQI=:;x=\"y\"", b"c", b"d=(1 \"x\";y);z, e=-7,\t a=?0"]);
        let expected = [
            ("a", Value::Integer(1)),
            ("b", Value::Bytes(vec![1, 2])),
            ("c", Value::Other),
            ("d", Value::Other),
            ("e", Value::Integer(-7)),
            ("a", Value::Other),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value));
        assert_eq!(read.as_deref(), Ok(&expected[..]));
        assert_eq!(members(&[]), Ok(Vec::new()));
        assert_eq!(members(&[b"a=1", b""]), Err(Malformed));
    }

    fn is_valid_for_sfv(text: &[u8]) -> bool {
        let ignored = sfv::visitor::Ignored;
        sfv::Parser::new(text)
            .parse_dictionary_with_visitor(ignored)
            .is_ok()
    }

    fn is_valid(text: &[u8]) -> bool {
        parse(text, &mut |_, _| {}).is_ok()
    }

    /// H33: each type of value has its grammar, and `sfv` agrees.
    #[test]
    fn each_type_of_value_has_its_grammar() {
        for (text, expected) in [
            ("a=999999999999999", true),
            ("a=1000000000000000", false),
            ("a=123456789012.123", true),
            ("a=1234567890123.1", false),
            ("a=1.1234", false),
            ("a=1.", false),
            ("a=-", false),
            ("a=.1", false),
            ("a=@-7, b=@1.5", false),
            ("a=@-7", true),
            ("a=:YQ:", true),
            ("a=:Y:", false),
            ("a=:YR==:", true),
            ("a=:Y-_=:", false),
            ("a=:", false),
            ("a=%\"%c3%a9\"", true),
            ("a=%\"%c3\"", false),
            ("a=%\"%C3%A9\"", false),
            ("a=\"\\x\"", false),
            ("a=(1 2", false),
            ("a=(1  2)", true),
            ("a=(1,2)", false),
            ("a=1,", false),
            ("a=1 ,b", true),
            ("a=1 \t", true),
            (" a ", true),
            ("\ta", false),
            ("A=1", false),
            ("a;b;c=1", true),
            ("a ;b", false),
            ("", true),
        ] {
            assert_eq!(is_valid(text.as_bytes()), expected, "{text}");
            assert_eq!(is_valid_for_sfv(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        /// H33: the grammar is that of `sfv`.
        #[test]
        fn parser_accepts_what_sfv_accepts(
            text in "([a*][=]?[-(]?([0-9.]{1,16}|\"[ -~]{0,3}\"|[:][A-Da-d0-9+/=]{0,6}:|[?@%]?[\"01.%a-f9]{0,4}|[!-~]{0,4})[ );a=1]{0,3}[ \t]?[,]?[ \t]?){0,3}"
        ) {
            prop_assert_eq!(is_valid(text.as_bytes()), is_valid_for_sfv(text.as_bytes()), "{}", text);
        }

        /// H33: any bytes are read without a panic, as `sfv` reads them.
        #[test]
        fn any_bytes_are_parsed(bytes: Vec<u8>) {
            prop_assert_eq!(is_valid(&bytes), is_valid_for_sfv(&bytes));
        }
    }
}
