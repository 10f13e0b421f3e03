//! Resource indicators, [RFC 8707](https://www.rfc-editor.org/rfc/rfc8707).

use crate::vocabulary::Audience;

/// Narrows `allowed` to `resources`: all of it if `resources` is empty, `None` if one of them is
/// not allowed. Compared byte for byte, in the order of `allowed`.
pub(crate) fn narrow(allowed: &[Audience], resources: &[Audience]) -> Option<Vec<Audience>> {
    if !resources.iter().all(|resource| allowed.contains(resource)) {
        return None;
    }
    let named = |audience: &&Audience| resources.is_empty() || resources.contains(audience);
    Some(allowed.iter().filter(named).cloned().collect())
}
