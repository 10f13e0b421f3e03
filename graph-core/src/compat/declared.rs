//! Checks of variable declarations that juniper's validation rules lack.

use std::ops::Range;

use juniper::parser::{SourcePosition, Spanning};
use juniper::validation::RuleError;
use juniper::{Definition, InputValue, SchemaType};

use super::Scalar;

/// Declared variable with a default. juniper does not export its own type for a declaration.
struct Defaulted<'d> {
    ty: &'d str,
    at: SourcePosition,
    default: &'d Spanning<InputValue>,
    /// From the end of the type to the end of the default, in characters.
    text: Range<usize>,
}

fn variables<'d>(document: &'d [Definition<'d, Scalar>]) -> impl Iterator<Item = Defaulted<'d>> {
    let declared = document.iter().filter_map(|definition| match definition {
        Definition::Operation(operation) => operation.item.variables_definition.as_ref(),
        Definition::Fragment(_) => None,
    });
    let declared = declared.flat_map(|declared| &declared.item.items);
    declared.filter_map(|(_, variable)| {
        let default = variable.default_value.as_ref()?;
        Some(Defaulted {
            ty: variable.var_type.item.innermost_name(),
            at: variable.var_type.span.start,
            default,
            text: variable.var_type.span.end.index()..default.span.end.index(),
        })
    })
}

/// Returns an error for each variable with a default and an unknown type. juniper's rule for
/// defaults panics on such a variable before another rule reports the type.
pub(super) fn unknown_types(
    schema: &SchemaType<Scalar>,
    document: &[Definition<'_, Scalar>],
) -> Vec<RuleError> {
    variables(document)
        .filter(|variable| schema.concrete_type_by_name(variable.ty).is_none())
        .map(|variable| {
            let message = format!("Unknown type \"{}\"", variable.ty);
            RuleError::new(&message, &[variable.at])
        })
        .collect()
}

/// Replaces the `null` defaults in `text` by spaces. Returns `None` if there are no such defaults.
///
/// juniper accepts a nullable variable at a non-null position if the variable has any default. The
/// [specification](https://spec.graphql.org/September2025/#IsVariableUsageAllowed()) does not count
/// a default of `null`. All other characters keep their position, for the locations of errors.
pub(super) fn without_null_defaults(text: &str, document: &[Definition<'_, Scalar>]) -> Option<String> {
    let nulls = variables(document).filter(|variable| variable.default.item.is_null());
    // in text order, because the text is scanned once
    let mut nulls = nulls.map(|variable| variable.text).peekable();
    nulls.peek()?;
    let blank = |(at, character): (usize, char)| {
        while nulls.next_if(|null| null.end <= at).is_some() {}
        let is_default = nulls.peek().is_some_and(|null| null.contains(&at));
        // a line end stays, because it can terminate a comment
        if is_default && !character.is_control() {
            ' '
        } else {
            character
        }
    };
    Some(text.chars().enumerate().map(blank).collect())
}
