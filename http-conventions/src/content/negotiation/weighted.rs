//! Members of `Accept-Language` and `Accept-Encoding`.

use host_ports::{Weight, field};

/// Value and weight of a member; `None` if `q` is malformed or another parameter is present.
#[inline]
pub(super) fn weighted<'a>((value, parameters): (&'a [u8], &[u8])) -> Option<(&'a [u8], Weight)> {
    if parameters.is_empty() {
        return Some((value, Weight::FULL));
    }
    // the common form
    if let Some(weight) = parameters.strip_prefix(b"q=").and_then(Weight::parse) {
        return Some((value, weight));
    }
    let mut weight = None;
    for part in field::split(parameters, b';') {
        let (b"q" | b"Q", raw) = field::parameter(part)? else {
            return None;
        };
        if weight.replace(Weight::parse(raw)?).is_some() {
            return None;
        }
    }
    Some((value, weight.unwrap_or(Weight::FULL)))
}
