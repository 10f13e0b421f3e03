//! [Argument coercion](https://spec.graphql.org/September2025/#sec-Coercing-Field-Arguments): at
//! compile time without variables, otherwise in each execution.

use juniper::InputValue;

use super::operation::OperationTree;
use super::parse::Field;
use super::variables::Coerced;
use crate::error::GraphError;
use crate::executor::plan::{SlotPlan, SlotValue};
use crate::executor::{Arguments, FieldInfo};
use crate::schema::{Field as FieldDefinition, Schema};
use crate::validate::{Fault, Faults};

/// Compiled arguments of a field.
pub(super) enum Prepared {
    None,
    /// Without variables; with faults the field must not run.
    Const(Arguments, Vec<Fault>),
    Refused(String),
    Slot(SlotPlan),
}

/// Field in the plan, in the table of its type, and in the schema.
pub(super) struct Target<'s> {
    /// Index into the metas of the plan.
    pub(super) meta: u32,
    pub(super) info: &'static FieldInfo,
    pub(super) definition: &'s FieldDefinition,
}

/// Compiles the arguments of `field`.
pub(super) fn prepare<'t>(
    schema: &Schema,
    tree: &OperationTree<'_, 't>,
    target: &Target<'_>,
    field: &Field<'t>,
) -> Prepared {
    let Target {
        meta,
        info,
        definition,
    } = *target;
    let Some(coerce) = info.coerce else {
        return Prepared::None;
    };
    let values = info.args.iter().map(|name| {
        let declared = definition.argument(name);
        let written = declared.and_then(|declared| {
            let value = tree.argument(field, name)?;
            Some(schema.value(declared.ty, tree.ast, value))
        });
        let default = declared.and_then(|declared| declared.default.as_ref());
        SlotValue {
            name,
            written,
            default: default.map(|default| default.value.clone()),
            non_null: declared.is_some_and(|declared| declared.ty.is_non_null()),
        }
    });
    let values: Vec<_> = values.collect();
    if values
        .iter()
        .any(|value| value.written.as_ref().is_some_and(has_variable))
    {
        let values = values.into();
        return Prepared::Slot(SlotPlan { meta, info, values });
    }
    let values: Vec<_> = values
        .into_iter()
        .map(|value| value.written.or(value.default))
        .collect();
    let mut faults = Vec::new();
    match coerce(&values, &mut Faults::new(&mut faults)) {
        Ok(arguments) => Prepared::Const(arguments, faults),
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

/// Coerces the arguments of `slot` with the variables of one execution, and adds their `faults`.
pub(crate) fn coerced(
    slot: &SlotPlan,
    variables: &Coerced<'_>,
    faults: &mut Vec<Fault>,
) -> Result<Arguments, GraphError> {
    let values: Result<Vec<_>, GraphError> = slot.values.iter().map(|value| with(value, variables)).collect();
    match slot.info.coerce {
        Some(coerce) => coerce(&values?, &mut Faults::new(faults)).map_err(GraphError::bad_user_input),
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
