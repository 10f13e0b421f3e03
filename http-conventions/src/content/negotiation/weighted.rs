//! Members of `Accept-Language` and `Accept-Encoding`.

use host_ports::{Weight, field};

/// The value and the weight of a member; `None` if a parameter other than `q` is present or `q` is malformed.
pub(super) fn weighted(member: &[u8]) -> Option<(&[u8], Weight)> {
    let (value, parameters) = field::split_once(member, b';');
    let Some(parameters) = parameters else {
        return Some((value, Weight::FULL));
    };
    // the common form
    if let Some(raw) = parameters.strip_prefix(b"q=").and_then(Weight::parse) {
        return Some((field::trim(value), raw));
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
    Some((field::trim(value), weight.unwrap_or(Weight::FULL)))
}
