//! [Variable coercion](https://spec.graphql.org/September2025/#sec-Coercing-Variable-Values), with
//! the messages of graphql-js.

use std::collections::BTreeMap;

use juniper::parser::Spanning;
use juniper::{DefaultScalarValue, InputValue, Variables};

use super::inspect::{inspect, number};
use super::operation::OperationTree;
use crate::error::ErrorCode;
use crate::response::{GraphResponse, Location, MISTAKES, ResponseError, cut_message};
use crate::schema::{Builtin, Enumeration, InputObject, Parse, Scalar, Schema, Type, TypeKind, TypeRef};

/// Variable of an operation.
#[derive(Debug)]
pub(crate) struct VariableDefinition {
    pub(crate) name: Box<str>,
    pub(crate) ty: TypeRef,
    pub(crate) default: Option<InputValue>,
    pub(crate) location: Location,
}

/// Variables of a valid operation.
pub(super) fn definitions(schema: &Schema, tree: &OperationTree<'_, '_>) -> Box<[VariableDefinition]> {
    let declared = tree.ast.variables(tree.operation.variables).iter();
    let declared = declared.filter_map(|variable| {
        // validation has found the type
        let ty = TypeRef {
            named: schema.id(variable.ty.name.text)?,
            wrappers: variable.ty.wrappers,
        };
        let default = variable.default.as_ref();
        Some(VariableDefinition {
            name: variable.name.text.into(),
            ty,
            default: default.map(|default| schema.value(ty, tree.ast, default)),
            location: tree.lines.location(variable.at),
        })
    });
    declared.collect()
}

/// Coerced variables that have a value.
#[derive(Debug, Default)]
pub(crate) struct Coerced<'d> {
    values: BTreeMap<&'d str, InputValue>,
}

impl Coerced<'_> {
    pub(crate) fn get(&self, name: &str) -> Option<&InputValue> {
        self.values.get(name)
    }

    /// Replaces the variables in a value; `None` for a variable without a value.
    pub(crate) fn resolved(&self, value: &InputValue) -> Option<InputValue> {
        Some(match value {
            InputValue::Variable(name) => self.get(name)?.clone(),
            InputValue::List(values) => {
                // the specification requires null for an absent variable in a list
                let resolve =
                    |value: &Spanning<InputValue>| self.resolved(&value.item).unwrap_or(InputValue::Null);
                InputValue::list(values.iter().map(resolve).collect())
            }
            InputValue::Object(fields) => InputValue::Object(
                fields
                    .iter()
                    .filter_map(|(name, value)| {
                        let resolved = self.resolved(&value.item)?;
                        Some((name.clone(), Spanning::new(value.span, resolved)))
                    })
                    .collect(),
            ),
            constant => constant.clone(),
        })
    }
}

/// Coerces the variables `defined`.
///
/// # Errors
///
/// A response with up to 100 errors.
pub(crate) fn coerce<'d>(
    schema: &Schema,
    defined: &'d [VariableDefinition],
    given: &Variables,
) -> Result<Coerced<'d>, GraphResponse> {
    let mut values = BTreeMap::new();
    let mut mistakes = Vec::new();
    for variable in defined {
        let mut coercion = Coercion {
            schema,
            variable,
            path: variable.name.to_string(),
            mistakes: &mut mistakes,
        };
        if coercion.is_enough() {
            break;
        }
        if let Some(value) = coercion.variable(given.get(&*variable.name)) {
            values.insert(&*variable.name, value);
        }
    }
    if mistakes.is_empty() {
        return Ok(Coerced { values });
    }
    Err(GraphResponse::request_errors(mistakes))
}

struct Coercion<'c> {
    schema: &'c Schema,
    variable: &'c VariableDefinition,
    /// Name of the variable and the place in its value, for example `input.ids[1]`.
    path: String,
    mistakes: &'c mut Vec<ResponseError>,
}

impl Coercion<'_> {
    fn variable(&mut self, given: Option<&InputValue>) -> Option<InputValue> {
        let VariableDefinition {
            name, ty, default, ..
        } = self.variable;
        let required = |what: &str, why: &str| {
            let ty = self.schema.print(*ty);
            format!("Variable \"${name}\" of {what} type \"{ty}\" {why}.")
        };
        match given {
            None if default.is_some() => default.clone(),
            None if ty.is_non_null() => {
                let message = required("required", "was not provided");
                self.report(message)
            }
            None => None,
            Some(InputValue::Null) if ty.is_non_null() => {
                let message = required("non-null", "must not be null");
                self.report(message)
            }
            Some(value) => self.value(*ty, value),
        }
    }

    fn value(&mut self, ty: TypeRef, value: &InputValue) -> Option<InputValue> {
        if self.is_enough() {
            return None;
        }
        if value.is_null() {
            if ty.is_non_null() {
                let ty = self.schema.print(ty);
                return self.refuse(
                    value,
                    &format!("Expected non-nullable type \"{ty}\" not to be null."),
                );
            }
            return Some(InputValue::Null);
        }
        if let Some(entry) = ty.entry() {
            let InputValue::List(values) = value else {
                return Some(InputValue::list(vec![self.value(entry, value)?]));
            };
            let mut coerced = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                let value = self.within(&format!("[{at}]"), entry, &value.item);
                coerced.push(value.unwrap_or(InputValue::Null));
            }
            return Some(InputValue::list(coerced));
        }
        let schema = self.schema;
        let ty = schema.type_at(ty.named);
        match &ty.kind {
            TypeKind::Enum(enumeration) => self.enumeration(ty, enumeration, value),
            TypeKind::InputObject(object) => self.object(ty, object, value),
            TypeKind::Scalar(scalar) => self.scalar(ty, scalar, value),
            // validation has refused a variable of such a type
            TypeKind::Object(_) | TypeKind::Interface(_) | TypeKind::Union => None,
        }
    }

    fn within(&mut self, step: &str, ty: TypeRef, value: &InputValue) -> Option<InputValue> {
        let length = self.path.len();
        self.path.push_str(step);
        let coerced = self.value(ty, value);
        self.path.truncate(length);
        coerced
    }

    fn scalar(&mut self, ty: &Type, scalar: &Scalar, value: &InputValue) -> Option<InputValue> {
        let coerced = match scalar.builtin {
            Some(builtin) => builtin.coerce(value),
            None => Ok(value.clone()),
        };
        let coerced = match coerced {
            Ok(coerced) => coerced,
            Err(why) => return self.refuse(value, &why),
        };
        self.parsed(ty, scalar.parse, value, coerced)
    }

    fn enumeration(
        &mut self,
        ty: &Type,
        enumeration: &Enumeration,
        value: &InputValue,
    ) -> Option<InputValue> {
        let name = &ty.name;
        let (InputValue::Scalar(DefaultScalarValue::String(given)) | InputValue::Enum(given)) = value else {
            let why = format!(
                "Enum \"{name}\" cannot represent non-string value: {}.",
                inspect(value)
            );
            return self.refuse(value, &why);
        };
        if enumeration.values.contains_key(given.as_str()) {
            return self.parsed(ty, enumeration.parse, value, InputValue::Enum(given.clone()));
        }
        self.refuse(
            value,
            &format!("Value \"{given}\" does not exist in \"{name}\" enum."),
        )
    }

    fn object(&mut self, ty: &Type, object: &InputObject, value: &InputValue) -> Option<InputValue> {
        let name = &ty.name;
        let InputValue::Object(given) = value else {
            return self.refuse(value, &format!("Expected type \"{name}\" to be an object."));
        };
        let before = self.mistakes.len();
        let mut fields = Vec::with_capacity(given.len());
        for declared in object.fields.values() {
            let found = given.iter().rev().find(|(name, _)| declared.name == *name.item);
            match found {
                Some((key, value)) => {
                    if let Some(coerced) = self.within(&format!(".{}", key.item), declared.ty, &value.item) {
                        fields.push((key.clone(), Spanning::new(value.span, coerced)));
                    }
                }
                None if declared.is_required() => {
                    let (field, ty) = (&declared.name, self.schema.print(declared.ty));
                    self.refuse(
                        value,
                        &format!("Field \"{field}\" of required type \"{ty}\" was not provided."),
                    );
                }
                None => {}
            }
        }
        for (key, _) in given {
            if self.is_enough() {
                break;
            }
            if !object.fields.contains_key(key.item.as_str()) {
                let why = format!("Field \"{}\" is not defined by type \"{name}\".", key.item);
                self.refuse(value, &why);
            }
        }
        if object.is_one_of {
            self.one_of(name, &fields, value);
        }
        if self.mistakes.len() > before {
            return None;
        }
        self.parsed(ty, object.parse, value, InputValue::Object(fields))
    }

    /// Checks the fields of a
    /// [OneOf Input Object](https://spec.graphql.org/September2025/#sec-OneOf-Input-Objects).
    fn one_of(
        &mut self,
        name: &str,
        fields: &[(Spanning<String>, Spanning<InputValue>)],
        value: &InputValue,
    ) {
        match fields {
            [
                (
                    key,
                    Spanning {
                        item: InputValue::Null,
                        ..
                    },
                ),
            ] => {
                let length = self.path.len();
                self.path.push_str(&format!(".{}", key.item));
                self.refuse(
                    &InputValue::Null,
                    &format!("Field \"{}\" must be non-null.", key.item),
                );
                self.path.truncate(length);
            }
            [_] => {}
            _ => {
                self.refuse(
                    value,
                    &format!("Exactly one key must be specified for OneOf type \"{name}\"."),
                );
            }
        }
    }

    /// Calls the host's parser of a type.
    fn parsed(
        &mut self,
        ty: &Type,
        parse: Option<Parse>,
        given: &InputValue,
        coerced: InputValue,
    ) -> Option<InputValue> {
        match parse.map(|Parse(parse)| parse(&coerced)) {
            Some(Err(error)) => {
                let why = format!("Expected type \"{}\". {}", ty.name, error.message());
                self.refuse(given, &why)
            }
            Some(Ok(())) | None => Some(coerced),
        }
    }

    fn refuse(&mut self, value: &InputValue, why: &str) -> Option<InputValue> {
        if self.is_enough() {
            return None;
        }
        let name = &self.variable.name;
        let place = match self.path.as_str() {
            path if *path == **name => String::new(),
            path => format!(" at \"{path}\""),
        };
        let message = format!(
            "Variable \"${name}\" got invalid value {}{place}; {why}",
            inspect(value)
        );
        self.report(message)
    }

    /// Returns `true` when the maximum number of errors is reached.
    fn is_enough(&self) -> bool {
        self.mistakes.len() >= MISTAKES
    }

    fn report(&mut self, message: String) -> Option<InputValue> {
        let error = ResponseError::new(ErrorCode::BadUserInput, cut_message(message));
        self.mistakes.push(error.at(self.variable.location));
        None
    }
}

impl Builtin {
    /// Coerces a JSON value to this scalar.
    fn coerce(self, value: &InputValue) -> Result<InputValue, String> {
        let InputValue::Scalar(scalar) = value else {
            return Err(self.refusal(value));
        };
        match (self, scalar) {
            (Self::Int | Self::Float | Self::Id, DefaultScalarValue::Int(_))
            | (Self::Float, DefaultScalarValue::Float(_))
            | (Self::String | Self::Id, DefaultScalarValue::String(_))
            | (Self::Boolean, DefaultScalarValue::Boolean(_)) => Ok(value.clone()),
            (Self::Int, DefaultScalarValue::Float(float)) if float.fract() == 0.0 => {
                let why = || {
                    format!(
                        "Int cannot represent non 32-bit signed integer value: {}",
                        number(*float)
                    )
                };
                small(*float).map(InputValue::scalar).ok_or_else(why)
            }
            (Self::Id, DefaultScalarValue::Float(float)) => exact(*float)
                .map(InputValue::scalar)
                .ok_or_else(|| self.refusal(value)),
            _ => Err(self.refusal(value)),
        }
    }

    fn refusal(self, value: &InputValue) -> String {
        let what = match self {
            Self::Int => "Int cannot represent non-integer value",
            Self::Float => "Float cannot represent non numeric value",
            Self::String => "String cannot represent a non string value",
            Self::Boolean => "Boolean cannot represent a non boolean value",
            Self::Id => "ID cannot represent value",
        };
        format!("{what}: {}", inspect(value))
    }
}

/// An integer that JSON has written as a float, for example `1.0`.
fn small(float: f64) -> Option<i32> {
    let range = f64::from(i32::MIN)..=f64::from(i32::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    range.contains(&float).then_some(float as i32)
}

/// Digits of an integer beyond 32 bits, if the `f64` represents it exactly.
fn exact(float: f64) -> Option<String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (float.fract() == 0.0 && float.abs() < EXACT).then(|| float.to_string())
}
