//! JSON, byte by byte.

use juniper::{DefaultScalarValue, InputValue};

/// How many bytes of a key are copied at once.
const INLINE: usize = 24;

/// `,"name":` as it stands in front of a value.
#[derive(Clone)]
pub(crate) enum Key {
    /// A short key: a copy of fixed size and a cut are one store, not a call.
    Short(u8, [u8; INLINE]),
    Long(Box<[u8]>),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl Key {
    pub(crate) fn new(name: &str) -> Self {
        Self::with_value(name, b"")
    }

    /// A key with its value behind it.
    pub(crate) fn with_value(name: &str, value: &[u8]) -> Self {
        let mut bytes = vec![b','];
        string(name, &mut bytes);
        bytes.push(b':');
        bytes.extend_from_slice(value);
        let mut inline = [0; INLINE];
        match (inline.get_mut(..bytes.len()), u8::try_from(bytes.len())) {
            (Some(start), Ok(length)) => {
                start.copy_from_slice(&bytes);
                Self::Short(length, inline)
            }
            _ => Self::Long(bytes.into()),
        }
    }

    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Short(length, bytes) => {
                let end = out.len() + usize::from(*length);
                out.extend_from_slice(bytes);
                out.truncate(end);
            }
            Self::Long(bytes) => out.extend_from_slice(bytes),
        }
    }

    pub(crate) fn heap(&self) -> usize {
        match self {
            Self::Short(..) => 0,
            Self::Long(bytes) => bytes.len(),
        }
    }
}

/// Writes an integer: its digits at the end of a block, which is copied as a whole.
#[inline]
pub(crate) fn integer(value: i32, out: &mut Vec<u8>) {
    let mut block = [0_u8; 16];
    let mut rest = value.unsigned_abs();
    let mut count = 0;
    for place in block.iter_mut().rev() {
        *place = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(block.get(block.len() - count..).unwrap_or_default());
}

/// Writes a number, if JSON has a word for it.
#[inline]
pub(crate) fn float(value: f64, out: &mut Vec<u8>) -> bool {
    value.is_finite() && serde_json::to_writer(out, &value).is_ok()
}

/// Writes a string with its quotes.
#[inline]
pub(crate) fn string(value: &str, out: &mut Vec<u8>) {
    if needs_escape(value.as_bytes()) {
        escaped(value, out);
        return;
    }
    out.reserve(value.len() + 2);
    out.push(b'"');
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
}

#[cold]
fn escaped(value: &str, out: &mut Vec<u8>) {
    // writing to a `Vec` does not fail
    let start = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"\"\"");
    }
}

/// Whether a byte of a string must not stand in JSON as it is.
#[inline]
fn needs_escape(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut found = 0;
    for word in words {
        found |= escapes_in(u64::from_le_bytes(*word));
    }
    found != 0
        || rest
            .iter()
            .any(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\')
}

/// Eight bytes at once: a bit in every byte that is a control character, a quote or a backslash.
#[inline]
const fn escapes_in(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // a byte above 0x7f is part of a longer character and never one of the three; `!word` takes it out
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = word ^ (ONES * 0x22);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = word ^ (ONES * 0x5c);
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGH
}

/// Writes a value of juniper's: an enum by its name, a custom scalar by what it makes of itself.
pub(crate) fn input_value(value: &InputValue, out: &mut Vec<u8>) -> bool {
    match value {
        InputValue::Null | InputValue::Variable(_) => out.extend_from_slice(b"null"),
        InputValue::Scalar(DefaultScalarValue::Int(value)) => integer(*value, out),
        InputValue::Scalar(DefaultScalarValue::Float(value)) => return float(*value, out),
        InputValue::Scalar(DefaultScalarValue::String(value)) => string(value, out),
        InputValue::Scalar(DefaultScalarValue::Boolean(value)) => {
            out.extend_from_slice(if *value { b"true" } else { b"false" });
        }
        InputValue::Enum(name) => string(name, out),
        InputValue::List(values) => {
            out.push(b'[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                if !input_value(&value.item, out) {
                    return false;
                }
            }
            out.push(b']');
        }
        InputValue::Object(fields) => {
            out.push(b'{');
            for (at, (name, value)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                string(&name.item, out);
                out.push(b':');
                if !input_value(&value.item, out) {
                    return false;
                }
            }
            out.push(b'}');
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b"before".to_vec();
        write(&mut out);
        String::from_utf8(out.split_off("before".len())).unwrap()
    }

    proptest! {
        /// G1: strings of any characters, long and short, are what serde_json writes.
        #[test]
        fn strings_are_those_of_serde(text in prop_oneof![
            "\\PC{0,80}",
            proptest::collection::vec(any::<char>(), 0..80).prop_map(String::from_iter),
            "[a-z]{0,70}[\"\\\\\u{0}-\u{1f}\u{7f}-\u{a0}]?[a-z]{0,9}",
        ]) {
            prop_assert_eq!(written(|out| string(&text, out)), serde_json::to_string(&text).unwrap());
        }

        /// G1: so are integers.
        #[test]
        fn integers_are_those_of_serde(value: i32) {
            prop_assert_eq!(written(|out| integer(value, out)), value.to_string());
        }

        /// G1: so are numbers that JSON has words for, and no others are written.
        #[test]
        fn numbers_are_those_of_serde(value in any::<f64>()) {
            let mut taken = true;
            let text = written(|out| taken = float(value, out));
            prop_assert_eq!(taken, value.is_finite());
            prop_assert_eq!(text, if taken { serde_json::to_string(&value).unwrap() } else { String::new() });
        }

        /// G1: keys of any length stand with their comma and colon, and with a value that is known.
        #[test]
        fn keys_are_written_whole(name in "[_A-Za-z][_0-9A-Za-z]{0,40}", value in "[0-9]{0,30}") {
            let key = Key::with_value(&name, value.as_bytes());
            prop_assert_eq!(written(|out| key.write(out)), format!(",\"{name}\":{value}"));
        }
    }

    #[test]
    fn the_ends_of_the_integers_are_written() {
        for value in [i32::MIN, -1, 0, 9, 10, i32::MAX] {
            assert_eq!(written(|out| integer(value, out)), value.to_string());
        }
    }

    /// Every byte at every place of a word and behind it.
    #[test]
    fn every_byte_is_seen_wherever_it_stands() {
        for at in 0..20 {
            for byte in 0..=0x7f_u8 {
                let mut bytes = [b'x'; 20];
                bytes[at] = byte;
                let wanted = byte < 0x20 || byte == b'"' || byte == b'\\';
                assert_eq!(needs_escape(&bytes), wanted, "{byte:#x} at {at}");
            }
        }
    }
}
