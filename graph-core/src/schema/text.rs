//! Strings and descriptions in the format of graphql-js.

use juniper::ArcStr;

/// Returns `string` as a literal.
pub(super) fn quoted(string: &str) -> String {
    let mut out = String::with_capacity(string.len() + 2);
    quote(string, &mut out);
    out
}

/// Appends `string` as a literal.
pub(crate) fn quote(string: &str, out: &mut String) {
    out.push('"');
    for character in string.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                out.push_str(&format!("\\u{:04X}", u32::from(character)));
            }
            character => out.push(character),
        }
    }
    out.push('"');
}

/// Appends a description, after an empty line unless the description is the `first` of its block.
pub(super) fn described(description: Option<&ArcStr>, indent: &str, first: bool, text: &mut String) {
    let Some(description) = description else {
        return;
    };
    if !first {
        text.push('\n');
    }
    text.push_str(indent);
    let written = if keeps_its_lines(description) {
        block_string(description)
    } else {
        quoted(description)
    };
    text.push_str(&written.replace('\n', &format!("\n{indent}")));
    text.push('\n');
}

/// Returns `true` if a block string preserves `text`. A block string loses outer blank lines,
/// common indentation and line endings.
fn keeps_its_lines(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let unprintable =
        |character: char| character.is_ascii_control() && !matches!(character, '\n' | '\t' | '\u{7f}');
    let empty = |line: &str| line.chars().all(is_white);
    let lines: Vec<&str> = text.split('\n').collect();
    let outer = [lines.first(), lines.last()];
    if text.contains(unprintable) || outer.into_iter().flatten().any(|line| empty(line)) {
        return false;
    }
    let indented = |line: &&str| line.starts_with(is_white) || empty(line);
    lines.len() == 1 || !lines.iter().all(indented)
}

/// Returns `text` as a block string.
pub(crate) fn block_string(text: &str) -> String {
    let escaped = text.replace("\"\"\"", "\\\"\"\"");
    let one_line = !text.contains('\n');
    let rest_is_indented = !one_line
        && text
            .split('\n')
            .skip(1)
            .all(|line| line.is_empty() || line.starts_with(is_white));
    let triple = escaped.ends_with("\\\"\"\"");
    let closing = (text.ends_with('"') && !triple) || text.ends_with('\\');
    let length = text.encode_utf16().count();
    let spread = !one_line || length > 70 || closing || rest_is_indented || triple;
    let keeps_indent = one_line && text.starts_with(is_white);
    let before = if (spread && !keeps_indent) || rest_is_indented {
        "\n"
    } else {
        ""
    };
    let after = if spread { "\n" } else { "" };
    format!("\"\"\"{before}{escaped}{after}\"\"\"")
}

fn is_white(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(description: &str, expected: &str) {
        let mut text = String::new();
        described(Some(&ArcStr::from(description)), "  ", true, &mut text);
        assert_eq!(text, expected);
    }

    /// Output of graphql-js 16.
    #[test]
    fn descriptions_are_written_as_by_graphql_js() {
        let long = "a".repeat(71);
        for (description, expected) in [
            ("one line", "  \"\"\"one line\"\"\"\n"),
            ("", "  \"\"\"\"\"\"\n"),
            ("two\nlines", "  \"\"\"\n  two\n  lines\n  \"\"\"\n"),
            ("two\n  indented", "  \"\"\"\n  two\n    indented\n  \"\"\"\n"),
            (long.as_str(), &format!("  \"\"\"\n  {long}\n  \"\"\"\n")),
            ("it is \"quoted\"", "  \"\"\"\n  it is \"quoted\"\n  \"\"\"\n"),
            ("back\\", "  \"\"\"\n  back\\\n  \"\"\"\n"),
            ("ends \"\"\"", "  \"\"\"\n  ends \\\"\"\"\n  \"\"\"\n"),
            ("a \"\"\" b", "  \"\"\"a \\\"\"\" b\"\"\"\n"),
            (" indented", "  \"\"\" indented\"\"\"\n"),
            (" all\n indented", "  \" all\\n indented\"\n"),
            ("\nleading", "  \"\\nleading\"\n"),
            ("trailing\n", "  \"trailing\\n\"\n"),
            ("   ", "  \"   \"\n"),
            ("ring \u{7}", "  \"ring \\u0007\"\n"),
            ("carriage\rreturn", "  \"carriage\\rreturn\"\n"),
            ("a\n\nb", "  \"\"\"\n  a\n  \n  b\n  \"\"\"\n"),
        ] {
            check(description, expected);
        }
    }
}
