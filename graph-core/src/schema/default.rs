//! Default values of arguments and input fields.

use juniper::{DefaultScalarValue, InputValue};

use super::{Builtin, Schema, TypeKind, TypeRef, quote};

/// Default value in both forms that are needed.
#[derive(Debug)]
pub(crate) struct Default {
    /// Value that a resolver gets.
    pub(crate) value: InputValue,
    /// [GraphQL literal](https://spec.graphql.org/September2025/#sec-Input-Values) of the type.
    pub(crate) text: String,
}

impl Schema {
    /// Prints `value` as a literal of the type `ty`. juniper's registry has the names of enum
    /// values as strings.
    pub(super) fn literal(&self, ty: TypeRef, value: &InputValue, out: &mut String) {
        if let (InputValue::List(values), entry) = (value, ty.entry()) {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                self.literal(entry.unwrap_or(ty), &value.item, out);
            }
            out.push(']');
            return;
        }
        match value {
            InputValue::Object(given) => {
                out.push('{');
                for (at, (name, value)) in given.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    out.push_str(&name.item);
                    out.push_str(": ");
                    let declared = match &self.type_at(ty.named).kind {
                        TypeKind::InputObject(object) => object.fields.get(name.item.as_str()),
                        _ => None,
                    };
                    self.literal(declared.map_or(ty, |field| field.ty), &value.item, out);
                }
                out.push('}');
            }
            InputValue::Scalar(scalar) => self.leaf(ty, scalar, out),
            InputValue::Enum(name) => out.push_str(name),
            InputValue::Null | InputValue::Variable(_) | InputValue::List(_) => out.push_str("null"),
        }
    }

    fn leaf(&self, ty: TypeRef, scalar: &DefaultScalarValue, out: &mut String) {
        let kind = &self.type_at(ty.named).kind;
        match scalar {
            DefaultScalarValue::String(name) if matches!(kind, TypeKind::Enum(_)) => out.push_str(name),
            DefaultScalarValue::String(text) => quote(text, out),
            DefaultScalarValue::Int(number) => out.push_str(&number.to_string()),
            DefaultScalarValue::Boolean(truth) => out.push_str(&truth.to_string()),
            DefaultScalarValue::Float(number) => {
                // a Float may be written as an integer, another scalar must keep its kind
                let is_float =
                    matches!(kind, TypeKind::Scalar(scalar) if scalar.builtin == Some(Builtin::Float));
                let text = if is_float {
                    number.to_string()
                } else {
                    format!("{number:?}")
                };
                out.push_str(&text);
            }
        }
    }
}
