//! Literals of scalars and enums
//! ([Scalars](https://spec.graphql.org/September2025/#sec-Scalars), Input Coercion).

use juniper::parser::Spanning;
use juniper::{DefaultScalarValue, InputValue};

use crate::document::parse::{Ast, Value, ValueKind};
use crate::schema::{Builtin, Parse, Schema, TypeKind, TypeRef};

impl Schema {
    /// Checks `value`, which is not null, at a position of the type `input`. The error is the
    /// message of the rule.
    pub(super) fn accepts(&self, input: TypeRef, ast: &Ast<'_>, value: &Value<'_>) -> Result<(), String> {
        let ty = self.type_at(input.named);
        let unexpected = || {
            let expected = self.print(input);
            format!(
                "Expected value of type \"{expected}\", found {}",
                ast.print(value)
            )
        };
        match &ty.kind {
            TypeKind::Scalar(scalar) => match (scalar.builtin, scalar.parse) {
                (Some(builtin), _) => builtin.accepts(ast, value),
                (None, Some(Parse(parse))) => parse(&untyped(ast, value))
                    .map_err(|error| format!("{}; {}", unexpected(), error.message())),
                (None, None) => Ok(()),
            },
            TypeKind::Enum(enumeration) => match value.kind {
                ValueKind::Enum(name) if enumeration.values.contains_key(name) => Ok(()),
                ValueKind::Enum(name) => Err(format!(
                    "Value \"{name}\" does not exist in \"{}\" enum.",
                    ty.name
                )),
                _ => Err(format!(
                    "Enum \"{}\" cannot represent non-enum value: {}.",
                    ty.name,
                    ast.print(value)
                )),
            },
            _ => Err(format!("{}.", unexpected())),
        }
    }
}

impl Builtin {
    fn accepts(self, ast: &Ast<'_>, value: &Value<'_>) -> Result<(), String> {
        let refused = |why: &str| Err(format!("{why}: {}", ast.print(value)));
        match (self, &value.kind) {
            (Self::Int, ValueKind::Int(digits)) => match digits.parse::<i32>() {
                Ok(_) => Ok(()),
                Err(_) => Err(format!(
                    "Int cannot represent non 32-bit signed integer value: {digits}"
                )),
            },
            (Self::Float, ValueKind::Int(_) | ValueKind::Float(_))
            | (Self::String, ValueKind::String { .. })
            | (Self::Boolean, ValueKind::Boolean(_))
            | (Self::Id, ValueKind::Int(_) | ValueKind::String { .. }) => Ok(()),
            (Self::Int, _) => refused("Int cannot represent non-integer value"),
            (Self::Float, _) => refused("Float cannot represent non numeric value"),
            (Self::String, _) => refused("String cannot represent a non string value"),
            (Self::Boolean, _) => refused("Boolean cannot represent a non boolean value"),
            (Self::Id, _) => refused("ID cannot represent a non-string and non-integer value"),
        }
    }
}

/// Value of a literal whose type has no structure of its own. An integer beyond 32 bits is a
/// float, as in the JSON of variables.
pub(crate) fn untyped(ast: &Ast<'_>, value: &Value<'_>) -> InputValue {
    match &value.kind {
        ValueKind::Variable(name) => InputValue::variable(*name),
        ValueKind::Int(digits) => match digits.parse::<i32>() {
            Ok(number) => InputValue::scalar(number),
            Err(_) => float(digits),
        },
        ValueKind::Float(digits) => float(digits),
        ValueKind::String { text, .. } => InputValue::scalar(text.to_string()),
        ValueKind::Boolean(truth) => InputValue::scalar(*truth),
        ValueKind::Null => InputValue::Null,
        ValueKind::Enum(name) => InputValue::enum_value(*name),
        ValueKind::List(values) => InputValue::list(
            ast.values(*values)
                .iter()
                .map(|value| untyped(ast, value))
                .collect(),
        ),
        ValueKind::Object(fields) => {
            let fields = ast.fields(*fields).iter();
            let fields = fields.map(|field| (field.name.text.to_owned(), untyped(ast, &field.value)));
            object(fields)
        }
    }
}

/// Value of the digits of a number. The grammar of numbers is a part of Rust's.
pub(crate) fn float(digits: &str) -> InputValue {
    InputValue::Scalar(DefaultScalarValue::Float(digits.parse().unwrap_or(f64::NAN)))
}

pub(crate) fn object(fields: impl Iterator<Item = (String, InputValue)>) -> InputValue {
    let fields = fields.map(|(name, value)| (Spanning::unlocated(name), Spanning::unlocated(value)));
    InputValue::Object(fields.collect())
}
