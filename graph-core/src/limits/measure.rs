//! Depth, aliases and root fields of an operation.

use super::outline::{Outline, OutlineField};

#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Counts {
    pub(super) depth: usize,
    pub(super) introspection_lists: usize,
    pub(super) aliases: usize,
    pub(super) root_fields: usize,
}

pub(super) fn counts(outline: &Outline) -> Counts {
    Counts {
        depth: depth(&outline.fields),
        introspection_lists: outline
            .fields
            .iter()
            .filter(|field| is_introspection(field))
            .map(nested_lists)
            .max()
            .unwrap_or_default(),
        aliases: aliases(&outline.fields),
        root_fields: outline.fields.len(),
    }
}

/// Returns `true` for `__schema`, `__type` and `__typename`.
pub(super) fn is_introspection(field: &OutlineField) -> bool {
    field.name.starts_with("__")
}

fn depth(fields: &[OutlineField]) -> usize {
    fields
        .iter()
        .filter(|field| !is_introspection(field))
        .map(|field| 1 + depth(&field.children))
        .max()
        .unwrap_or_default()
}

fn aliases(fields: &[OutlineField]) -> usize {
    fields
        .iter()
        .map(|field| usize::from(field.aliased) + aliases(&field.children))
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
