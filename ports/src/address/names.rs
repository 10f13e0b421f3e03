//! Host names that never belong to a public server.

const LOCAL: &str = "a name of this machine";
/// Kind of the names of local networks.
pub(super) const INTERNAL: &str = "a name of the local network";
const METADATA: &str = "a metadata service";
const MALFORMED: &str = "not a valid host name";

/// A suffix matches the name itself and every name under it. Narrower suffixes come first.
const SUFFIXES: &[(&str, &str)] = &[
    ("metadata.google.internal", METADATA),
    ("metadata.goog", METADATA),
    ("instance-data.ec2.internal", METADATA),
    ("metadata.tencentyun.com", METADATA),
    ("localhost", LOCAL),
    ("localdomain", LOCAL),
    ("local", INTERNAL),
    ("internal", INTERNAL),
    ("home.arpa", INTERNAL),
    ("svc", INTERNAL),
];

/// Kind of a name that the policy refuses; `None` for a public name. `name` is in lower case.
pub(super) fn kind(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.split('.').any(str::is_empty) {
        return Some(MALFORMED);
    }
    let listed = SUFFIXES
        .iter()
        .find(|(suffix, _)| is_under(name, suffix))
        .map(|(_, kind)| *kind);
    listed.or((!name.contains('.')).then_some(INTERNAL))
}

/// Returns `true` if the name stands for loopback addresses, [RFC 6761
/// §6.3](https://www.rfc-editor.org/rfc/rfc6761#section-6.3).
pub(super) fn is_loopback(name: &str) -> bool {
    is_under(name.strip_suffix('.').unwrap_or(name), "localhost")
}

fn is_under(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
