//! Distinguished names as text, [RFC 4514](https://www.rfc-editor.org/rfc/rfc4514), in a canonical
//! form for comparison.

/// Keywords of [RFC 4514 §3](https://www.rfc-editor.org/rfc/rfc4514#section-3), with `SERIALNUMBER`
/// and `EMAILADDRESS`, which client certificates also use.
const KEYWORDS: [(&str, &str); 11] = [
    ("CN", "2.5.4.3"),
    ("L", "2.5.4.7"),
    ("ST", "2.5.4.8"),
    ("O", "2.5.4.10"),
    ("OU", "2.5.4.11"),
    ("C", "2.5.4.6"),
    ("STREET", "2.5.4.9"),
    ("DC", "0.9.2342.19200300.100.1.25"),
    ("UID", "0.9.2342.19200300.100.1.1"),
    ("SERIALNUMBER", "2.5.4.5"),
    ("EMAILADDRESS", "1.2.840.113549.1.9.1"),
];

/// An attribute: the dotted number of its type, and its value.
pub(super) type Attribute = (String, String);

/// Returns the canonical form of the name in `text`. `None` if the text is empty or not a name.
pub(super) fn canonical(text: &str) -> Option<String> {
    spelled(parse(text)?)
}

/// Returns the canonical form of a name, given as sets of attributes (RDNs) with the most specific
/// set first, as in RFC 4514. `None` for an empty name.
pub(super) fn spelled(sets: impl IntoIterator<Item = Vec<Attribute>>) -> Option<String> {
    let mut text = String::new();
    for (index, mut set) in sets.into_iter().enumerate() {
        // the attributes of a set have no order, so they are sorted
        set.sort_unstable();
        if index > 0 {
            text.push(',');
        }
        for (index, (number, value)) in set.iter().enumerate() {
            if index > 0 {
                text.push('+');
            }
            let keyword = KEYWORDS.iter().find(|(_, known)| known == number);
            text.push_str(keyword.map_or(number, |(keyword, _)| keyword));
            text.push('=');
            escape(value, &mut text);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Appends `value` to `text`, escaped by [RFC 4514
/// §2.4](https://www.rfc-editor.org/rfc/rfc4514#section-2.4).
fn escape(value: &str, text: &mut String) {
    let last = value.len().saturating_sub(1);
    for (index, character) in value.char_indices() {
        match character {
            '"' | '+' | ',' | ';' | '<' | '>' | '\\' => text.extend(['\\', character]),
            ' ' if index == 0 || index == last => text.push_str("\\ "),
            '#' if index == 0 => text.push_str("\\#"),
            control if control.is_ascii_control() => text.push_str(&format!("\\{:02X}", u32::from(control))),
            other => text.push(other),
        }
    }
}

fn parse(text: &str) -> Option<Vec<Vec<Attribute>>> {
    let mut sets = vec![Vec::new()];
    let mut rest = text;
    loop {
        let (kind, behind) = rest.split_once('=')?;
        // text in the form of older RFCs has spaces after commas
        let kind = number(kind.trim_start_matches(' '))?;
        let (value, end) = value(behind)?;
        sets.last_mut()?.push((kind, value));
        let Some(separator) = behind.get(end..)?.chars().next() else {
            return Some(sets);
        };
        if separator == ',' {
            sets.push(Vec::new());
        }
        rest = behind.get(end + 1..)?;
    }
}

/// Returns the dotted number of an attribute type, given as a keyword in any letter case or as a
/// dotted number.
fn number(kind: &str) -> Option<String> {
    let of_keyword = KEYWORDS
        .iter()
        .find(|(keyword, _)| keyword.eq_ignore_ascii_case(kind));
    if let Some((_, number)) = of_keyword {
        return Some((*number).to_owned());
    }
    let is_arc =
        |arc: &str| arc == "0" || (!arc.starts_with('0') && arc.bytes().all(|byte| byte.is_ascii_digit()));
    let is_number = kind.contains('.') && kind.split('.').all(|arc| !arc.is_empty() && is_arc(arc));
    is_number.then(|| kind.to_owned())
}

/// Returns the unescaped value at the start of `text`, and the byte index of its end: the index of
/// a `,` or `+`, or the length of the text.
///
/// Values in hexadecimal BER, which begin with `#`, are not supported.
fn value(text: &str) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    let mut characters = text.char_indices();
    let mut ends_in_space = false;
    let end = loop {
        let Some((index, character)) = characters.next() else {
            break text.len();
        };
        match character {
            ',' | '+' => break index,
            '"' | ';' | '<' | '>' | '\0' => return None,
            ' ' | '#' if index == 0 => return None,
            '\\' => bytes.push(escaped(&mut characters)?),
            other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        ends_in_space = character == ' ';
    };
    if ends_in_space {
        return None;
    }
    Some((String::from_utf8(bytes).ok()?, end))
}

/// Returns the byte that is escaped after a backslash: a special character, or two hexadecimal
/// digits.
fn escaped(characters: &mut std::str::CharIndices<'_>) -> Option<u8> {
    let (_, first) = characters.next()?;
    if let ' ' | '"' | '#' | '+' | ',' | ';' | '<' | '=' | '>' | '\\' = first {
        return u8::try_from(first).ok();
    }
    let (_, second) = characters.next()?;
    let byte = first.to_digit(16)? * 16 + second.to_digit(16)?;
    u8::try_from(byte).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// O19, 12: all texts of one name have the same canonical form.
    #[test]
    fn a_name_has_one_spelling() {
        for (written, spelled) in [
            ("CN=robot,O=Example Ltd,C=GB", "CN=robot,O=Example Ltd,C=GB"),
            ("cn=robot, o=Example Ltd, c=GB", "CN=robot,O=Example Ltd,C=GB"),
            (
                "2.5.4.3=robot,2.5.4.10=Example Ltd,C=GB",
                "CN=robot,O=Example Ltd,C=GB",
            ),
            ("2.5.4.97=PSDGB-1,CN=robot", "2.5.4.97=PSDGB-1,CN=robot"),
            (
                "OU=Sales+CN=J.  Smith,DC=example",
                "OU=Sales+CN=J.  Smith,DC=example",
            ),
            (
                "CN=J.  Smith+OU=Sales,DC=example",
                "OU=Sales+CN=J.  Smith,DC=example",
            ),
            ("CN=a\\,O=b", "CN=a\\,O=b"),
            ("CN=a\\2CO=b", "CN=a\\,O=b"),
            ("CN=Lu\\C4\\8Di\\C4\\87", "CN=Lu\u{10d}i\u{107}"),
            ("CN=\\ a \\20", "CN=\\ a \\ "),
            ("CN=\\#1", "CN=\\#1"),
            ("CN=a\\00", "CN=a\\00"),
            ("CN=1=1", "CN=1=1"),
        ] {
            assert_eq!(canonical(written).as_deref(), Some(spelled), "{written}");
        }
    }

    /// O19, 12: ambiguous text is refused.
    #[test]
    fn rejects_ambiguous_names() {
        for text in [
            "",
            " ",
            "robot",
            "CN",
            "=robot",
            "CN=robot,",
            "CN=robot+",
            ",CN=robot",
            "CN=robot,,C=GB",
            "X=robot",
            "2=robot",
            "2.05=robot",
            "2..5=robot",
            "CN= robot",
            "CN=robot ",
            "CN=robot ,C=GB",
            "CN=#0403020101",
            "CN=\"robot\"",
            "CN=a;O=b",
            "CN=<a>",
            "CN=a\0",
            "CN=a\\",
            "CN=a\\x",
            "CN=a\\4",
            "CN=a\\FF",
            "CN =robot",
        ] {
            assert_eq!(canonical(text), None, "{text:?}");
        }
    }

    proptest! {
        /// O19, 12: the canonical form of a name with any values parses to the same name.
        #[test]
        fn no_value_reaches_beyond_itself(sets in proptest::collection::vec(
            proptest::collection::vec(("(2\\.5\\.4\\.(3|10|97)|1\\.2)", "([,+=\\\\ \"#;<>a\\x00]|\\PC){0,6}"), 1..3), 1..4
        )) {
            let spelled = spelled(sets.clone()).unwrap();
            let sorted: Vec<_> = sets.into_iter().map(|mut set| { set.sort(); set }).collect();
            prop_assert_eq!(parse(&spelled), Some(sorted));
            prop_assert_eq!(canonical(&spelled), Some(spelled));
        }

        #[test]
        fn text_never_panics(text in "((CN|O|2\\.5)=?[,+=\\\\ #0-9a-f\u{e9}]{0,6}){0,4}|\\PC*") {
            if let Some(spelled) = canonical(&text) {
                prop_assert_eq!(canonical(&spelled), Some(spelled));
            }
        }
    }
}
