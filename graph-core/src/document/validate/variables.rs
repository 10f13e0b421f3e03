//! [Variables](https://spec.graphql.org/September2025/#sec-Validation.Variables).

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::Mistake;
use super::walk::Walk;
use crate::document::parse::{Definition, Operation, TypeNode, ValueKind, VariableDefinition};
use crate::response::MISTAKES;
use crate::schema::{TypeKind, TypeRef};

/// Variable in a value.
pub(super) struct Usage<'t> {
    pub(super) name: &'t str,
    pub(super) at: u32,
    /// Type of the position, if it is known.
    pub(super) input: Option<TypeRef>,
    /// The position has a default.
    pub(super) has_default: bool,
    /// Type of the object whose field has the variable as its value.
    pub(super) object: Option<TypeRef>,
}

impl<'w, 't> Walk<'w, 't> {
    /// The type of a variable, if its name is known.
    pub(super) fn type_of(&self, ty: TypeNode<'t>) -> Option<TypeRef> {
        let named = self.schema.id(ty.name.text)?;
        let wrappers = ty.wrappers;
        Some(TypeRef { named, wrappers })
    }

    /// 5.8.1 Variable Uniqueness.
    pub(super) fn unique_variables(&mut self, operation: &'w Operation<'t>) {
        let mut places: IndexMap<&str, Vec<u32>> = IndexMap::new();
        for variable in self.ast.variables(operation.variables) {
            places
                .entry(variable.name.text)
                .or_default()
                .push(variable.name.at);
        }
        for (name, places) in places {
            if places.len() > 1 {
                self.report(
                    format!("There can be only one variable named \"${name}\"."),
                    places,
                );
            }
        }
    }

    /// 5.8.2 Variables Are Input Types.
    pub(super) fn input_type(&mut self, variable: &'w VariableDefinition<'t>) {
        if let Some(ty) = self.type_of(variable.ty)
            && !self.schema.type_at(ty.named).is_input()
        {
            let (name, ty) = (variable.name.text, self.schema.print(ty));
            let message = format!("Variable \"${name}\" cannot be non-input type \"{ty}\".");
            self.report(message, [variable.ty.at]);
        }
    }

    /// Checks the variables of the operation at the index `at`.
    pub(super) fn variables_of(&self, at: usize, mistakes: &mut Vec<Mistake>) {
        let Some(Definition::Operation(operation)) = self.ast.definitions.get(at) else {
            return;
        };
        let usages = self.usages(at, operation);
        let declared = self.ast.variables(operation.variables);
        // the last of each name
        let by_name: HashMap<_, _> = declared
            .iter()
            .map(|variable| (variable.name.text, variable))
            .collect();
        let of = |with: &str| {
            operation
                .name
                .map(|name| format!("{with} operation \"{}\"", name.text))
        };
        // 5.8.3 All Variable Uses Defined
        for usage in &usages {
            if mistakes.len() >= MISTAKES {
                return;
            }
            if !by_name.contains_key(usage.name) {
                let by = of(" by").unwrap_or_default();
                let message = format!("Variable \"${}\" is not defined{by}.", usage.name);
                mistakes.push(Mistake::new(message, vec![usage.at, operation.at]));
            }
        }
        // 5.8.4 All Variables Used
        let used: HashSet<_> = usages.iter().map(|usage| usage.name).collect();
        for variable in declared {
            if mistakes.len() >= MISTAKES {
                return;
            }
            if !used.contains(variable.name.text) {
                let within = of(" in").unwrap_or_default();
                let message = format!("Variable \"${}\" is never used{within}.", variable.name.text);
                mistakes.push(Mistake::new(message, vec![variable.at]));
            }
        }
        for usage in &usages {
            if mistakes.len() >= MISTAKES {
                return;
            }
            if let Some(variable) = by_name.get(usage.name) {
                self.position(variable, usage, mistakes);
            }
        }
    }

    /// Usages in the operation and in the fragments that it spreads.
    fn usages(&self, at: usize, operation: &Operation<'t>) -> Vec<&Usage<'t>> {
        let reached = self.reached(std::iter::once(operation.selections)).into_iter();
        let fragments = reached.filter_map(|name| self.places.get(name).copied());
        let all = std::iter::once(at).chain(fragments);
        all.filter_map(|at| self.found.get(at))
            .flat_map(|found| &found.usages)
            .collect()
    }

    /// 5.8.5 All Variable Usages Are Allowed.
    fn position(&self, variable: &VariableDefinition<'t>, usage: &Usage<'t>, mistakes: &mut Vec<Mistake>) {
        let (Some(ty), Some(input)) = (self.type_of(variable.ty), usage.input) else {
            return;
        };
        let has_default = variable
            .default
            .as_ref()
            .is_some_and(|default| !matches!(default.kind, ValueKind::Null));
        let is_relaxed = input.is_non_null() && !ty.is_non_null() && (has_default || usage.has_default);
        let expected = if is_relaxed { input.nullable() } else { input };
        let (name, written) = (variable.name.text, self.schema.print(ty));
        if ty.named != input.named || !ty.wrappers.is_within(expected.wrappers) {
            let position = self.schema.print(input);
            mistakes.push(Mistake::new(format!(
                    "Variable \"${name}\" of type \"{written}\" used in position expecting type \"{position}\"."
                ), vec![variable.at, usage.at]));
        }
        let object = usage.object.map(|object| self.schema.type_at(object.named));
        if let Some(object) = object
            && matches!(&object.kind, TypeKind::InputObject(known) if known.is_one_of)
            && !ty.is_non_null()
        {
            mistakes.push(Mistake::new(format!(
                    "Variable \"${name}\" is of type \"{written}\" but must be non-nullable to be used for OneOf Input Object \"{}\".",
                    object.name
                ), vec![variable.at, usage.at]));
        }
    }
}
