//! [Argument coercion](https://spec.graphql.org/September2025/#sec-Coercing-Field-Arguments): at
//! compile time without variables, otherwise in each execution.

use juniper::meta::Field as FieldMeta;
use juniper::{DefaultScalarValue, InputValue};

use super::variables::Coerced;
use crate::compat::TypeRef;
use crate::compat::syntax::Field;
use crate::error::GraphError;
use crate::executor::plan::{SlotPlan, SlotValue};
use crate::executor::{Arguments, FieldInfo};

/// Compiled arguments of a field.
pub(super) enum Prepared {
    None,
    Const(Arguments),
    Refused(String),
    Slot(SlotPlan),
}

/// Compiles the arguments of `field`.
pub(super) fn prepare(
    info: &'static FieldInfo,
    meta: &FieldMeta<DefaultScalarValue>,
    field: &Field<'_>,
) -> Prepared {
    let Some(coerce) = info.coerce else {
        return Prepared::None;
    };
    let values: Vec<_> = info
        .args
        .iter()
        .map(|name| {
            let declared = meta.arguments.iter().flatten();
            let declared = declared
                .into_iter()
                .find(|argument| argument.name.as_str() == *name);
            SlotValue {
                name,
                written: field.argument(name).cloned(),
                default: declared.and_then(|argument| argument.default_value.clone()),
                non_null: declared
                    .is_some_and(|argument| matches!(TypeRef::new(&argument.arg_type), TypeRef::NonNull(_))),
            }
        })
        .collect();
    if values
        .iter()
        .any(|value| value.written.as_ref().is_some_and(has_variable))
    {
        let values = values.into();
        return Prepared::Slot(SlotPlan { info, values });
    }
    let values: Vec<_> = values
        .into_iter()
        .map(|value| value.written.or(value.default))
        .collect();
    match coerce(&values) {
        Ok(arguments) => Prepared::Const(arguments),
        Err(why) => Prepared::Refused(why),
    }
}

fn has_variable(value: &InputValue) -> bool {
    match value {
        InputValue::Variable(_) => true,
        InputValue::List(values) => values.iter().any(|value| has_variable(&value.item)),
        InputValue::Object(fields) => fields.iter().any(|(_, value)| has_variable(&value.item)),
        InputValue::Null | InputValue::Scalar(_) | InputValue::Enum(_) => false,
    }
}

/// Coerces the arguments of `slot` with the variables of one execution.
pub(crate) fn coerced(slot: &SlotPlan, variables: &Coerced<'_>) -> Result<Arguments, GraphError> {
    let values: Result<Vec<_>, GraphError> = slot.values.iter().map(|value| with(value, variables)).collect();
    match slot.info.coerce {
        Some(coerce) => coerce(&values?).map_err(GraphError::bad_user_input),
        None => Err(GraphError::internal("a field without arguments has arguments")),
    }
}

fn with(value: &SlotValue, variables: &Coerced<'_>) -> Result<Option<InputValue>, GraphError> {
    let written = value
        .written
        .as_ref()
        .and_then(|written| variables.resolved(written));
    let found = written.or_else(|| value.default.clone());
    if value.non_null && found.as_ref().is_none_or(InputValue::is_null) {
        let why = format!("the argument `{}` must not be null", value.name);
        return Err(GraphError::bad_user_input(why));
    }
    Ok(found)
}
