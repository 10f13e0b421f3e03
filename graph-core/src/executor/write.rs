//! JSON serialization.

use juniper::{DefaultScalarValue, InputValue};

/// Bytes of an inline key.
const INLINE: usize = 24;

/// Member name with its comma: `,"name":`.
#[derive(Clone)]
pub(crate) enum Key {
    /// Inline key, copied with one fixed-size store.
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
    /// Empty key.
    pub(crate) const NONE: Self = Self::Short(0, [0; INLINE]);

    pub(crate) fn new(name: &str) -> Self {
        Self::with_value(name, b"")
    }

    /// Key followed by a constant value.
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

    /// Name of the member. The key must have no value.
    pub(crate) fn name(&self) -> String {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        let name = bytes
            .strip_prefix(b",\"")
            .and_then(|rest| rest.strip_suffix(b"\":"));
        String::from_utf8_lossy(name.unwrap_or_default()).into_owned()
    }

    pub(crate) fn heap(&self) -> usize {
        match self {
            Self::Short(..) => 0,
            Self::Long(bytes) => bytes.len(),
        }
    }
}

/// Writes an integer. The digits are collected in a block and copied at once.
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

/// Writes a number; returns `false` if it has no JSON form.
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

/// Returns `true` if a byte must be escaped in JSON.
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

/// Sets a bit in every byte of `word` that is a control character, a quote or a backslash.
#[inline]
const fn escapes_in(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // `!word` excludes bytes above 0x7f, which belong to multi-byte characters
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = word ^ (ONES * 0x22);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = word ^ (ONES * 0x5c);
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & HIGH
}

/// Writes a juniper value; returns `false` if a number has no JSON form.
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
#[path = "tests/write.rs"]
mod tests;
