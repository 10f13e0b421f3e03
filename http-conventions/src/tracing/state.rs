//! Grammar and limits of [`tracestate`](https://www.w3.org/TR/trace-context-2/#tracestate-header).

use http::{HeaderMap, HeaderValue};

use super::TRACESTATE;
use crate::{field, single_value};

/// Largest number of members; a list with more is invalid.
const MOST_MEMBERS: usize = 32;
/// Largest length of a list that is passed on.
const LONGEST: usize = 512;
/// Members above this length are removed first from a list that is too long.
const LONG_MEMBER: usize = 128;
/// Largest length of a key, and of a value.
const LONGEST_PART: usize = 256;

/// State to pass on, joined from all lines of the field; `None` if there is none, or if it is
/// invalid.
///
/// A list above 512 characters is shortened: long members are removed first, then members from the
/// end. Repeated keys are passed on.
pub(super) fn read(headers: &HeaderMap) -> Option<HeaderValue> {
    let members = || {
        let lines = headers.get_all(TRACESTATE).iter();
        let members = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
        members.map(field::trim).filter(|member| !member.is_empty())
    };
    if !(1..=MOST_MEMBERS).contains(&members().count()) || !members().all(is_member) {
        return None;
    }
    if let Some(line) = single_value(headers, &TRACESTATE)
        && line.len() <= LONGEST
    {
        return Some(line.clone());
    }
    let mut members: Vec<_> = members().collect();
    shorten(&mut members);
    if members.is_empty() {
        return None;
    }
    HeaderValue::from_bytes(&members.join(&b","[..])).ok()
}

/// Removes members until the list is short enough.
fn shorten(members: &mut Vec<&[u8]>) {
    // counts a comma for each member, which is one too many: hence `LONGEST + 1`
    let mut length = members.iter().map(|member| member.len() + 1).sum::<usize>();
    for least in [LONG_MEMBER + 1, 0] {
        while length > LONGEST + 1 {
            let Some(last) = members.iter().rposition(|member| member.len() >= least) else {
                break;
            };
            length -= members.remove(last).len() + 1;
        }
    }
}

/// Returns `true` for `key=value` in the grammar of level 2, which includes that of level 1.
fn is_member(member: &[u8]) -> bool {
    let mut parts = member.splitn(2, |byte| *byte == b'=');
    let (Some(key), Some(value)) = (parts.next(), parts.next()) else {
        return false;
    };
    is_key(key) && is_value(value)
}

fn is_key(key: &[u8]) -> bool {
    let is_start = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    key.len() <= LONGEST_PART
        && key.first().is_some_and(|first| is_start(*first))
        && key.iter().all(|byte| is_start(*byte) || b"_-*/@".contains(byte))
}

/// The member is trimmed, so the value does not end with a space.
fn is_value(value: &[u8]) -> bool {
    (1..=LONGEST_PART).contains(&value.len())
        && value
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~') && !b",=".contains(byte))
}
