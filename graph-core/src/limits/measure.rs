//! Depth, aliases and root fields of an operation.

use juniper::Variables;

use super::outline::{Outline, OutlineField};

#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Counts {
    pub(super) depth: usize,
    pub(super) introspection_lists: usize,
    pub(super) aliases: usize,
    pub(super) root_fields: usize,
}

pub(super) fn counts(outline: &Outline, variables: &Variables) -> Counts {
    let roots = || included(&outline.fields, variables);
    Counts {
        depth: depth(&outline.fields, variables),
        introspection_lists: roots()
            .filter(|field| is_introspection(field))
            .map(nested_lists)
            .max()
            .unwrap_or_default(),
        aliases: aliases(&outline.fields, variables),
        root_fields: roots().count(),
    }
}

/// Returns `true` for `__schema`, `__type` and `__typename`.
pub(super) fn is_introspection(field: &OutlineField) -> bool {
    field.name.starts_with("__")
}

/// Fields that the variables do not exclude.
fn included<'f>(
    fields: &'f [OutlineField],
    variables: &'f Variables,
) -> impl Iterator<Item = &'f OutlineField> {
    fields.iter().filter(|field| field.is_included(variables))
}

fn depth(fields: &[OutlineField], variables: &Variables) -> usize {
    included(fields, variables)
        .filter(|field| !is_introspection(field))
        .map(|field| 1 + depth(&field.children, variables))
        .max()
        .unwrap_or_default()
}

fn aliases(fields: &[OutlineField], variables: &Variables) -> usize {
    included(fields, variables)
        .map(|field| usize::from(field.aliased) + aliases(&field.children, variables))
        .sum()
}

/// Nesting of the introspection lists that can recurse.
fn nested_lists(field: &OutlineField) -> usize {
    let list = matches!(
        field.name.as_str(),
        "fields" | "inputFields" | "interfaces" | "possibleTypes"
    );
    usize::from(list) + field.children.iter().map(nested_lists).max().unwrap_or_default()
}
