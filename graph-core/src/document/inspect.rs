//! Values in error messages, as graphql-js prints them.

use juniper::{DefaultScalarValue, InputValue};

use crate::response::cut;

/// Maximum nesting and number of entries that are printed.
const LEVELS: usize = 2;
const ENTRIES: usize = 10;

/// Maximum length in bytes.
const LENGTH: usize = 1_000;

/// Prints a value of a variable.
pub(super) fn inspect(value: &InputValue) -> String {
    let mut out = String::new();
    write(value, LEVELS, &mut out);
    cut(out, LENGTH)
}

fn write(value: &InputValue, levels: usize, out: &mut String) {
    if out.len() > LENGTH {
        return;
    }
    match value {
        InputValue::Null => out.push_str("null"),
        InputValue::Scalar(DefaultScalarValue::Int(number)) => out.push_str(&number.to_string()),
        InputValue::Scalar(DefaultScalarValue::Float(float)) => out.push_str(&number(*float)),
        InputValue::Scalar(DefaultScalarValue::Boolean(truth)) => out.push_str(&truth.to_string()),
        InputValue::Scalar(DefaultScalarValue::String(text)) | InputValue::Enum(text) => {
            out.push_str(&serde_json::Value::from(text.as_str()).to_string());
        }
        InputValue::Variable(name) => out.push_str(name),
        InputValue::List(values) if values.is_empty() => out.push_str("[]"),
        InputValue::List(_) if levels == 0 => out.push_str("[Array]"),
        InputValue::List(values) => {
            out.push('[');
            for (at, value) in values.iter().take(ENTRIES).enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write(&value.item, levels - 1, out);
            }
            match values.len().saturating_sub(ENTRIES) {
                0 => {}
                1 => out.push_str(", ... 1 more item"),
                more => out.push_str(&format!(", ... {more} more items")),
            }
            out.push(']');
        }
        InputValue::Object(fields) if fields.is_empty() => out.push_str("{}"),
        InputValue::Object(_) if levels == 0 => out.push_str("[Object]"),
        InputValue::Object(fields) => {
            out.push_str("{ ");
            for (at, (name, value)) in fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                out.push_str(&name.item);
                out.push_str(": ");
                write(&value.item, levels - 1, out);
            }
            out.push_str(" }");
        }
    }
}

/// Prints a number as JavaScript does.
pub(super) fn number(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    if size < 1.0 { text } else { text.replace('e', "e+") }
}

#[cfg(test)]
mod tests {
    use juniper::graphql_input_value;

    use super::*;

    #[test]
    fn values_are_printed_as_by_graphql_js() {
        let many: Vec<_> = (0..12).map(InputValue::scalar).collect();
        for (value, expected) in [
            (graphql_input_value!(null), "null"),
            (graphql_input_value!("a\"b"), r#""a\"b""#),
            (graphql_input_value!([1, true, []]), "[1, true, []]"),
            (
                graphql_input_value!({"a": {"b": {"c": 1}}}),
                "{ a: { b: [Object] } }",
            ),
            (graphql_input_value!([[[1]]]), "[[[Array]]]"),
            (
                InputValue::list(many),
                "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... 2 more items]",
            ),
            (InputValue::scalar(1.5), "1.5"),
            (InputValue::scalar(1e21), "1e+21"),
            (InputValue::scalar(1.5e-7), "1.5e-7"),
            (InputValue::scalar(-0.0), "0"),
            (InputValue::scalar(1e20), "100000000000000000000"),
        ] {
            assert_eq!(inspect(&value), expected);
        }
    }
}
