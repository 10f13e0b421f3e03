//! Lower-case hexadecimal text.

/// Digits of a byte.
pub(crate) const fn digits(byte: u8) -> [u8; 2] {
    [digit(byte >> 4), digit(byte & 15)]
}

const fn digit(value: u8) -> u8 {
    match value {
        0..=9 => b'0' + value,
        _ => b'a' + (value - 10),
    }
}

/// Parses exactly `N` bytes in lower case.
pub(crate) fn parse<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = value(*high)? << 4 | value(*low)?;
    }
    Some(bytes)
}

const fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}
