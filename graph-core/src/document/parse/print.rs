//! Values as text, in the format of graphql-js.

use super::ast::{Ast, Value, ValueKind};
use crate::schema::{block_string, quote};

impl<'t> Ast<'t> {
    /// The text of `value` in an error message.
    pub(crate) fn print(&self, value: &Value<'t>) -> String {
        let mut out = String::new();
        self.write(value, &mut out);
        out
    }

    fn write(&self, value: &Value<'t>, out: &mut String) {
        match &value.kind {
            ValueKind::Variable(name) => {
                out.push('$');
                out.push_str(name);
            }
            ValueKind::Int(text) | ValueKind::Float(text) | ValueKind::Enum(text) => out.push_str(text),
            ValueKind::String { text, is_block: true } => out.push_str(&block_string(text)),
            ValueKind::String { text, .. } => quote(text, out),
            ValueKind::Boolean(true) => out.push_str("true"),
            ValueKind::Boolean(false) => out.push_str("false"),
            ValueKind::Null => out.push_str("null"),
            ValueKind::List(values) => {
                out.push('[');
                for (at, value) in self.values(*values).iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    self.write(value, out);
                }
                out.push(']');
            }
            ValueKind::Object(fields) => {
                out.push('{');
                for (at, field) in self.fields(*fields).iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    out.push_str(field.name.text);
                    out.push_str(": ");
                    self.write(&field.value, out);
                }
                out.push('}');
            }
        }
    }
}
