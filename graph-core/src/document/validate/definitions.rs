//! [Documents](https://spec.graphql.org/September2025/#sec-Documents) and
//! [operations](https://spec.graphql.org/September2025/#sec-Validation.Operations).

use indexmap::IndexMap;
use juniper::OperationType;

use super::walk::Walk;
use crate::document::parse::{Definition, Field, List, Operation, Selection, ValueKind};

/// Selections at the root of a subscription.
#[derive(Default)]
struct Root<'w, 't> {
    /// By response key.
    fields: IndexMap<&'t str, Vec<&'w Field<'t>>>,
    /// Positions of `@skip` and `@include`.
    conditions: Vec<u32>,
    /// Fragments that were expanded.
    spread: Vec<&'t str>,
}

impl<'w, 't> Walk<'w, 't> {
    /// 5.1.1 Executable Definitions.
    pub(super) fn executable_definitions(&mut self) {
        for definition in &self.ast.definitions {
            if let Definition::TypeSystem { at, name } = definition {
                let name = name.map_or("schema".to_owned(), |name| format!("\"{name}\""));
                self.report(format!("The {name} definition is not executable."), [*at]);
            }
        }
    }

    pub(super) fn operation_rules(&mut self, operation: &'w Operation<'t>) {
        self.unique_operation(operation);
        // 5.2.3.1 Lone Anonymous Operation
        if operation.name.is_none() && self.ast.operations().nth(1).is_some() {
            let message = "This anonymous operation must be the only defined operation.";
            self.report(message.to_owned(), [operation.at]);
        }
        if operation.kind == OperationType::Subscription {
            self.single_root_field(operation);
        }
    }

    /// 5.2.2.1 Operation Name Uniqueness.
    fn unique_operation(&mut self, operation: &'w Operation<'t>) {
        let Some(name) = operation.name else { return };
        let names = self.ast.operations().filter_map(|operation| operation.name);
        let first = names.into_iter().find(|other| other.text == name.text);
        if let Some(first) = first.filter(|first| first.at != name.at) {
            let message = format!("There can be only one operation named \"{}\".", name.text);
            self.report(message, [first.at, name.at]);
        }
    }

    /// 5.2.4.1 Single Root Field.
    fn single_root_field(&mut self, operation: &'w Operation<'t>) {
        if self.schema.root(OperationType::Subscription).is_none() {
            return;
        }
        let mut root = Root::default();
        self.collect(operation.selections, &mut root);
        let Root {
            fields, conditions, ..
        } = root;
        let name = operation
            .name
            .map_or("Anonymous Subscription".to_owned(), |name| {
                format!("Subscription \"{}\"", name.text)
            });
        let places = |fields: &[&Field<'_>]| fields.iter().map(|field| field.at()).collect::<Vec<_>>();
        if !conditions.is_empty() {
            let message =
                format!("{name} must not use `@skip` or `@include` directives in the top level selection.");
            self.report(message, conditions);
        }
        if fields.len() > 1 {
            let others: Vec<_> = fields
                .values()
                .skip(1)
                .flat_map(|fields| places(fields))
                .collect();
            self.report(format!("{name} must select only one top level field."), others);
        }
        for fields in fields.values() {
            if fields
                .first()
                .is_some_and(|field| field.name.text.starts_with("__"))
            {
                let message = format!("{name} must not select an introspection top level field.");
                self.report(message, places(fields));
            }
        }
    }

    /// Collects what a subscription selects at its root. A condition that depends on a variable
    /// counts as fulfilled.
    fn collect(&self, selections: List<Selection<'t>>, into: &mut Root<'w, 't>) {
        let root = self.schema.root(OperationType::Subscription);
        let applies = |on: &str| {
            let on = self.schema.id(on);
            root.zip(on)
                .is_some_and(|(root, on)| self.schema.is_possible(root, on))
        };
        for selection in self.ast.selections(selections) {
            let directives = match selection {
                Selection::Field(field) => field.directives,
                Selection::Inline(inline) => inline.directives,
                Selection::Spread(spread) => spread.directives,
            };
            let conditions = self.ast.directives(directives).iter();
            let conditions = conditions.filter(|directive| matches!(directive.name.text, "skip" | "include"));
            into.conditions.extend(conditions.map(|directive| directive.at));
            match selection {
                Selection::Field(field) if self.is_included(field.directives) => {
                    into.fields.entry(field.key()).or_default().push(field);
                }
                Selection::Inline(inline)
                    if self.is_included(inline.directives) && inline.on.is_none_or(|on| applies(on.text)) =>
                {
                    self.collect(inline.selections, into);
                }
                Selection::Spread(one)
                    if !into.spread.contains(&one.name.text) && self.is_included(one.directives) =>
                {
                    into.spread.push(one.name.text);
                    if let Some(fragment) = self.fragments.get(one.name.text)
                        && applies(fragment.on.text)
                    {
                        self.collect(fragment.selections, into);
                    }
                }
                Selection::Field(_) | Selection::Inline(_) | Selection::Spread(_) => {}
            }
        }
    }

    fn is_included(&self, directives: List<crate::document::parse::Directive<'t>>) -> bool {
        let mut directives = self.ast.directives(directives).iter();
        directives.all(|directive| {
            let condition = self
                .ast
                .argument(directive.arguments, "if")
                .map(|value| &value.kind);
            !matches!(
                (directive.name.text, condition),
                ("skip", Some(ValueKind::Boolean(true))) | ("include", Some(ValueKind::Boolean(false)))
            )
        })
    }
}
