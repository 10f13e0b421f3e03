//! Resource indicators, [RFC 8707](https://www.rfc-editor.org/rfc/rfc8707).

use crate::vocabulary::Audience;

/// Returns the members of `allowed` that `resources` names, in the order of `allowed`; all of them
/// if `resources` is empty. `None` if `resources` has a value that is not allowed. Values are
/// compared byte for byte.
pub(crate) fn narrow(allowed: &[Audience], resources: &[Audience]) -> Option<Vec<Audience>> {
    if !resources.iter().all(|resource| allowed.contains(resource)) {
        return None;
    }
    let named = |audience: &&Audience| resources.is_empty() || resources.contains(audience);
    Some(allowed.iter().filter(named).cloned().collect())
}
