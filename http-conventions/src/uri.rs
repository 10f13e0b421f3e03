//! Characters of URIs, [RFC 3986 §2](https://www.rfc-editor.org/rfc/rfc3986#section-2).

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Appends `%` and two hexadecimal digits, [RFC 3986
/// §2.1](https://www.rfc-editor.org/rfc/rfc3986#section-2.1).
pub(crate) fn push_percent_encoded(text: &mut Vec<u8>, byte: u8) {
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
    text.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
}

/// Returns `true` if the byte is unreserved, reserved or the percent sign.
pub(crate) fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}
