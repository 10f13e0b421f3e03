//! Values of literals
//! ([Input Coercion](https://spec.graphql.org/September2025/#sec-Input-Values)).

use juniper::InputValue;

use super::parse::{Ast, Value, ValueKind};
use super::validate::{float, object, untyped};
use crate::schema::{Builtin, Schema, TypeKind, TypeRef};

impl Schema {
    /// Value of a valid literal at a position of the type `ty`. Variables stay variables.
    pub(crate) fn value(&self, ty: TypeRef, ast: &Ast<'_>, value: &Value<'_>) -> InputValue {
        match (&value.kind, ty.entry()) {
            (ValueKind::Variable(name), _) => return InputValue::variable(*name),
            (ValueKind::Null, _) => return InputValue::Null,
            (ValueKind::List(values), Some(entry)) => {
                let values = ast.values(*values).iter();
                return InputValue::list(values.map(|value| self.value(entry, ast, value)).collect());
            }
            // a single value is a list of one
            (_, Some(entry)) => return InputValue::list(vec![self.value(entry, ast, value)]),
            (_, None) => {}
        }
        match (&self.type_at(ty.named).kind, &value.kind) {
            (TypeKind::Scalar(scalar), ValueKind::Int(digits)) if scalar.builtin == Some(Builtin::Id) => {
                InputValue::scalar((*digits).to_owned())
            }
            (TypeKind::Scalar(scalar), ValueKind::Int(digits)) if scalar.builtin == Some(Builtin::Float) => {
                float(digits)
            }
            (TypeKind::InputObject(declared), ValueKind::Object(fields)) => {
                let fields = ast.fields(*fields).iter().filter_map(|field| {
                    let ty = declared.fields.get(field.name.text)?.ty;
                    Some((field.name.text.to_owned(), self.value(ty, ast, &field.value)))
                });
                object(fields)
            }
            _ => untyped(ast, value),
        }
    }
}
