//! Binary encoding of a cursor.
//!
//! ```text
//! payload  = version key-id direction expiry binding *value
//! value    = %x00 / %x01 / %x02               ; null, false, true
//!          / %x03 8OCTET                      ; integer
//!          / ( %x04 / %x05 ) length *OCTET    ; text, bytes
//! ```
//!
//! Numbers are big endian. `expiry` is in seconds since 1970 and has 64 bits, `length` has 16.

/// Direction of a cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a list has two directions")]
pub enum Direction {
    /// To the rows after the position.
    Forward,
    /// To the rows before the position.
    Backward,
}

/// Value of a sort column.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PositionValue {
    /// No value.
    Null,
    /// Boolean.
    Bool(bool),
    /// Integer. Encode times as integers.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl From<bool> for PositionValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for PositionValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for PositionValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for PositionValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

/// Payload of a cursor without its signature.
#[derive(Debug)]
pub(super) struct Payload {
    pub(super) direction: Direction,
    pub(super) expires_at: u64,
    pub(super) binding: [u8; 16],
    pub(super) values: Vec<PositionValue>,
}

/// Version, key id, direction, expiry and binding.
const FIXED: usize = 1 + 1 + 1 + 8 + 16;
pub(super) const VERSION: u8 = 1;

/// Encodes a payload; `None` if a value is longer than 65,535 bytes.
pub(super) fn encode(
    key_id: u8,
    direction: Direction,
    expires_at: u64,
    binding: [u8; 16],
    values: &[PositionValue],
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(FIXED + 64);
    out.extend_from_slice(&[VERSION, key_id, u8::from(direction == Direction::Backward)]);
    out.extend_from_slice(&expires_at.to_be_bytes());
    out.extend_from_slice(&binding);
    for value in values {
        encode_value(&mut out, value)?;
    }
    Some(out)
}

fn encode_value(out: &mut Vec<u8>, value: &PositionValue) -> Option<()> {
    match value {
        PositionValue::Null => out.push(0),
        PositionValue::Bool(value) => out.push(1 + u8::from(*value)),
        PositionValue::Integer(integer) => {
            out.push(3);
            out.extend_from_slice(&integer.to_be_bytes());
        }
        PositionValue::Text(text) => encode_string(out, 4, text.as_bytes())?,
        PositionValue::Bytes(bytes) => encode_string(out, 5, bytes)?,
    }
    Some(())
}

fn encode_string(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) -> Option<()> {
    let length = u16::try_from(bytes.len()).ok()?;
    out.push(tag);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
    Some(())
}

/// Decodes the output of [`encode`]; trailing bytes are an error.
pub(super) fn decode(bytes: &[u8]) -> Option<Payload> {
    let ([version, _key_id, direction], rest) = bytes.split_first_chunk()?;
    let (expires_at, rest) = rest.split_first_chunk()?;
    let (binding, mut rest) = rest.split_first_chunk()?;
    let direction = match (*version, *direction) {
        (VERSION, 0) => Direction::Forward,
        (VERSION, 1) => Direction::Backward,
        _ => return None,
    };
    let mut values = Vec::new();
    while !rest.is_empty() {
        let (value, tail) = decode_value(rest)?;
        values.push(value);
        rest = tail;
    }
    Some(Payload {
        direction,
        expires_at: u64::from_be_bytes(*expires_at),
        binding: *binding,
        values,
    })
}

fn decode_value(bytes: &[u8]) -> Option<(PositionValue, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    match tag {
        0 => Some((PositionValue::Null, rest)),
        1 | 2 => Some((PositionValue::Bool(*tag == 2), rest)),
        3 => {
            let (integer, rest) = rest.split_first_chunk()?;
            Some((PositionValue::Integer(i64::from_be_bytes(*integer)), rest))
        }
        4 => {
            let (text, rest) = decode_string(rest)?;
            Some((PositionValue::Text(String::from_utf8(text.to_vec()).ok()?), rest))
        }
        5 => {
            let (bytes, rest) = decode_string(rest)?;
            Some((PositionValue::Bytes(bytes.to_vec()), rest))
        }
        _ => None,
    }
}

fn decode_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn values() -> impl Strategy<Value = Vec<PositionValue>> {
        let value = prop_oneof![
            Just(PositionValue::Null),
            any::<bool>().prop_map(PositionValue::Bool),
            any::<i64>().prop_map(PositionValue::Integer),
            any::<String>().prop_map(PositionValue::Text),
            vec(any::<u8>(), 0..40).prop_map(PositionValue::Bytes),
        ];
        vec(value, 0..6)
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_the_same(values in values(), expires_at: u64, binding: [u8; 16], back: bool) {
            let direction = if back { Direction::Backward } else { Direction::Forward };
            let bytes = encode(9, direction, expires_at, binding, &values).unwrap();
            let payload = decode(&bytes).unwrap();
            prop_assert_eq!(payload.values, values);
            prop_assert_eq!(payload.direction, direction);
            prop_assert_eq!((payload.expires_at, payload.binding), (expires_at, binding));
        }

        #[test]
        fn decoding_never_panics_and_has_one_form(tail in vec(any::<u8>(), 0..60)) {
            let bytes = [&[VERSION, 1, 0][..], &[0; 24], &tail].concat();
            if let Some(payload) = decode(&bytes) {
                let again = encode(1, payload.direction, payload.expires_at, payload.binding, &payload.values);
                prop_assert_eq!(again, Some(bytes));
            }
        }
    }
}
