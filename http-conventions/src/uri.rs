//! The characters of URIs, [RFC 3986 §2](https://www.rfc-editor.org/rfc/rfc3986#section-2).

/// Unreserved, reserved, or the percent sign.
pub(crate) fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}
