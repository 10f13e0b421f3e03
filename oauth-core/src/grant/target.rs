//! Which resource servers a token is for, [RFC 8707](https://www.rfc-editor.org/rfc/rfc8707).

use crate::vocabulary::Audience;

/// The part of `allowed` that `resources` name: all of it when none is named, nothing at all when one is named that is not
/// in it. Compared byte for byte, in the order of `allowed`.
pub(crate) fn narrow(allowed: &[Audience], resources: &[Audience]) -> Option<Vec<Audience>> {
    if !resources.iter().all(|resource| allowed.contains(resource)) {
        return None;
    }
    let named = |audience: &&Audience| resources.is_empty() || resources.contains(audience);
    Some(allowed.iter().filter(named).cloned().collect())
}
