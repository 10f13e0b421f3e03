//! [Variable coercion](https://spec.graphql.org/September2025/#sec-Coercing-Variable-Values).
//!
//! This module replaces juniper's coercion, which refuses an input object that omits a non-null
//! field with a default. All other error messages equal juniper's messages.

use std::collections::BTreeMap;

use juniper::meta::{EnumMeta, InputObjectMeta, MetaType};
use juniper::parser::Spanning;
use juniper::{DefaultScalarValue, InputValue, SchemaType, Variables};

use crate::compat::TypeRef;
use crate::error::ErrorCode;
use crate::response::{GraphResponse, Location, MISTAKES, ResponseError};

type Schema = SchemaType<DefaultScalarValue>;

/// Variable of an operation.
#[derive(Debug)]
pub(crate) struct VariableDefinition {
    pub(crate) name: Box<str>,
    pub(crate) ty: TypeRef,
    pub(crate) default: Option<InputValue>,
    pub(crate) location: Location,
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
            mistakes: &mut mistakes,
        };
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
    mistakes: &'c mut Vec<ResponseError>,
}

impl Coercion<'_> {
    fn variable(&mut self, given: Option<&InputValue>) -> Option<InputValue> {
        let VariableDefinition {
            name, ty, default, ..
        } = self.variable;
        let missing = given.is_none_or(InputValue::is_null);
        match given {
            None if default.is_some() => default.clone(),
            _ if missing && matches!(ty, TypeRef::NonNull(_)) => {
                self.refuse(format!(
                    "Variable \"${name}\" of required type \"{ty}\" was not provided."
                ));
                None
            }
            None => None,
            Some(value) => self.value(ty, value, &mut String::new()),
        }
    }

    fn value(&mut self, ty: &TypeRef, value: &InputValue, path: &mut String) -> Option<InputValue> {
        if self.is_enough() {
            return None;
        }
        match ty {
            TypeRef::NonNull(_) if value.is_null() => {
                self.invalid(path, &format!("Expected \"{ty}\", found null"))
            }
            TypeRef::NonNull(inner) => self.value(inner, value, path),
            TypeRef::List(_) | TypeRef::Named(_) if value.is_null() => Some(InputValue::Null),
            TypeRef::List(inner) => match value {
                InputValue::List(values) => {
                    let mut coerced = Vec::with_capacity(values.len());
                    for (at, value) in values.iter().enumerate() {
                        let value = self.within(path, &format!("In element #{at}: "), inner, &value.item);
                        coerced.push(value.unwrap_or(InputValue::Null));
                    }
                    Some(InputValue::list(coerced))
                }
                single => Some(InputValue::list(vec![self.value(inner, single, path)?])),
            },
            TypeRef::Named(name) => match self.schema.concrete_type_by_name(name) {
                Some(MetaType::Enum(meta)) => self.enumeration(meta, value, path),
                Some(MetaType::InputObject(meta)) => self.object(meta, value, path),
                Some(meta) => self.scalar(name, meta, value, path),
                None => self.invalid(path, &format!("there is no type \"{name}\"")),
            },
        }
    }

    fn within(
        &mut self,
        path: &mut String,
        step: &str,
        ty: &TypeRef,
        value: &InputValue,
    ) -> Option<InputValue> {
        let length = path.len();
        path.push_str(step);
        let coerced = self.value(ty, value, path);
        path.truncate(length);
        coerced
    }

    fn scalar(
        &mut self,
        name: &str,
        meta: &MetaType<DefaultScalarValue>,
        value: &InputValue,
        path: &str,
    ) -> Option<InputValue> {
        // an ID may be any integer, and JSON integers can exceed 32 bits
        let identifier = if name == "ID" { integral(value) } else { None };
        let value = identifier.as_ref().unwrap_or(value);
        let parse = meta.input_value_parse_fn()?;
        if let Err(error) = parse(value) {
            let why = error.message();
            let why = format!("Expected input scalar `{name}`. Got: `{value}`. Details: {why}");
            return self.invalid(path, &why);
        }
        match value {
            InputValue::List(_) => self.invalid(path, &format!("Expected \"{name}\", found list")),
            InputValue::Object(_) => self.invalid(path, &format!("Expected \"{name}\", found object")),
            value => Some(value.clone()),
        }
    }

    fn enumeration(
        &mut self,
        meta: &EnumMeta<DefaultScalarValue>,
        value: &InputValue,
        path: &str,
    ) -> Option<InputValue> {
        let (InputValue::Scalar(DefaultScalarValue::String(name)) | InputValue::Enum(name)) = value else {
            let why = format!("Expected \"{}\", found not a string or enum", meta.name);
            return self.invalid(path, &why);
        };
        if meta.values.iter().any(|known| known.name == *name) {
            return Some(InputValue::Enum(name.clone()));
        }
        self.invalid(path, &format!("Invalid value for enum \"{}\"", meta.name))
    }

    fn object(
        &mut self,
        meta: &InputObjectMeta<DefaultScalarValue>,
        value: &InputValue,
        path: &mut String,
    ) -> Option<InputValue> {
        let InputValue::Object(given) = value else {
            let why = format!("Expected \"{}\", found not an object", meta.name);
            return self.invalid(path, &why);
        };
        let before = self.mistakes.len();
        let mut fields = Vec::with_capacity(given.len());
        for declared in &meta.input_fields {
            let step = format!("In field \"{}\": ", declared.name);
            let ty = TypeRef::new(&declared.arg_type);
            let found = given.iter().rev().find(|(name, _)| declared.name == *name.item);
            match found {
                Some((name, value)) => {
                    if let Some(coerced) = self.within(path, &step, &ty, &value.item) {
                        fields.push((name.clone(), Spanning::new(value.span, coerced)));
                    }
                }
                None if matches!(ty, TypeRef::NonNull(_)) && declared.default_value.is_none() => {
                    let path = format!("{path}{step}");
                    self.invalid(&path, &format!("Expected \"{ty}\", found null"));
                }
                None => {}
            }
        }
        for (name, _) in given {
            if self.is_enough() {
                break;
            }
            if !meta
                .input_fields
                .iter()
                .any(|declared| declared.name == *name.item)
            {
                self.invalid(&format!("{path}In field \"{}\": ", name.item), "Unknown field");
            }
        }
        if self.mistakes.len() > before {
            return None;
        }
        let coerced = InputValue::Object(fields);
        self.parsed(meta, coerced, path)
    }

    /// Calls the parser of an input object type after its fields were coerced.
    fn parsed(
        &mut self,
        meta: &InputObjectMeta<DefaultScalarValue>,
        coerced: InputValue,
        path: &str,
    ) -> Option<InputValue> {
        let known = self.schema.concrete_type_by_name(&meta.name);
        let parse = known.and_then(MetaType::input_value_parse_fn);
        match parse.map(|parse| parse(&coerced)) {
            Some(Err(error)) => {
                let (name, why) = (&meta.name, error.message());
                let why = format!("Expected input of type `{name}`. Got: `{coerced}`. Details: {why}");
                self.invalid(path, &why)
            }
            Some(Ok(())) | None => Some(coerced),
        }
    }

    fn invalid(&mut self, path: &str, why: &str) -> Option<InputValue> {
        let name = &self.variable.name;
        self.refuse(format!("Variable \"${name}\" got invalid value. {path}{why}."));
        None
    }

    /// Returns `true` when the maximum number of errors is reached.
    fn is_enough(&self) -> bool {
        self.mistakes.len() >= MISTAKES
    }

    fn refuse(&mut self, message: String) {
        if self.is_enough() {
            return;
        }
        let error = ResponseError::new(ErrorCode::BadUserInput, message);
        self.mistakes.push(error.at(self.variable.location));
    }
}

/// Digits of an integer beyond 32 bits, if the `f64` represents it exactly.
fn integral(value: &InputValue) -> Option<InputValue> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        InputValue::Scalar(DefaultScalarValue::Float(number))
            if number.fract() == 0.0 && number.abs() < EXACT =>
        {
            Some(InputValue::scalar(number.to_string()))
        }
        _ => None,
    }
}
