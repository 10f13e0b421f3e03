//! [Deferred fragments](https://github.com/graphql/graphql-spec/pull/1110), if the schema has
//! `@defer`.

use std::collections::HashSet;

use juniper::OperationType;

use super::walk::Walk;
use crate::document::parse::{Directive, List, Operation, Selection, ValueKind};

/// Fragments that need not be checked again.
#[derive(Default)]
pub(super) struct Checked<'t> {
    at_root: HashSet<&'t str>,
    in_subscription: HashSet<&'t str>,
}

impl<'w, 't> Walk<'w, 't> {
    /// Checks where an operation defers fragments.
    pub(super) fn deferred_fragments(&mut self, operation: &'w Operation<'t>) {
        if self.schema.directive("defer").is_none() {
            return;
        }
        let kind = match operation.kind {
            OperationType::Query => return,
            OperationType::Mutation => "mutation",
            OperationType::Subscription => "subscription",
        };
        if let Some(root) = self.schema.root(operation.kind) {
            let root = &self.schema.type_at(root).name;
            let message = format!("Defer directive cannot be used on root {kind} type \"{root}\".");
            let mut visited = HashSet::new();
            if self.at_root(operation.selections, &message, &mut visited) {
                self.deferred.at_root.extend(visited);
            }
        }
        if operation.kind == OperationType::Subscription {
            let mut visited = HashSet::new();
            if self.in_subscription(operation.selections, &mut Vec::new(), &mut visited) {
                self.deferred.in_subscription.extend(visited);
            }
        }
    }

    /// Reports the deferred fragments at the root; returns `true` without any.
    fn at_root(
        &mut self,
        selections: List<Selection<'t>>,
        message: &str,
        visited: &mut HashSet<&'t str>,
    ) -> bool {
        let mut is_valid = true;
        for selection in self.ast.selections(selections) {
            let (directives, below) = match selection {
                Selection::Field(_) => continue,
                Selection::Inline(inline) => (inline.directives, Some(inline.selections)),
                Selection::Spread(spread) => {
                    let name = spread.name.text;
                    let Some(fragment) = self.fragments.get(name).filter(|_| visited.insert(name)) else {
                        continue;
                    };
                    let is_checked = self.deferred.at_root.contains(name);
                    (spread.directives, (!is_checked).then_some(fragment.selections))
                }
            };
            if let Some(defer) = self.defer(directives) {
                is_valid = false;
                self.report(message.to_owned(), [defer.at]);
            }
            if let Some(below) = below {
                is_valid &= self.at_root(below, message, visited);
            }
        }
        is_valid
    }

    /// Reports the fragments of a subscription that are deferred for all variables; returns `true`
    /// without any. `spreads` are the positions of the spreads around.
    fn in_subscription(
        &mut self,
        selections: List<Selection<'t>>,
        spreads: &mut Vec<u32>,
        visited: &mut HashSet<&'t str>,
    ) -> bool {
        let mut is_valid = true;
        for selection in self.ast.selections(selections) {
            let directives = match selection {
                Selection::Field(field) => field.directives,
                Selection::Inline(inline) => inline.directives,
                Selection::Spread(spread) => spread.directives,
            };
            if self.can_be_skipped(directives) {
                continue;
            }
            for directive in self.ast.directives(directives) {
                let condition = self.condition(directive);
                let is_optional = matches!(
                    condition,
                    Some(ValueKind::Boolean(false) | ValueKind::Variable(_))
                );
                if directive.name.text == "defer" && !is_optional {
                    is_valid = false;
                    let message = "Defer directive not supported on subscription operations. \
                                   Disable `@defer` by setting the `if` argument to `false`.";
                    let around = spreads.iter().rev().copied();
                    let places: Vec<_> = [directive.at].into_iter().chain(around).collect();
                    self.report(message.to_owned(), places);
                }
            }
            is_valid &= match selection {
                Selection::Field(field) => self.in_subscription(field.selections, spreads, visited),
                Selection::Inline(inline) => self.in_subscription(inline.selections, spreads, visited),
                Selection::Spread(spread) => {
                    let name = spread.name.text;
                    if self.deferred.in_subscription.contains(name) || !visited.insert(name) {
                        continue;
                    }
                    let Some(fragment) = self.fragments.get(name) else {
                        continue;
                    };
                    spreads.push(spread.at);
                    let is_valid = self.in_subscription(fragment.selections, spreads, visited);
                    spreads.pop();
                    is_valid
                }
            };
        }
        is_valid
    }

    /// Returns `true` if `@skip` or `@include` can exclude the selection.
    fn can_be_skipped(&self, directives: List<Directive<'t>>) -> bool {
        let find = |name: &str| {
            let mut directives = self.ast.directives(directives).iter();
            directives.find(|directive| directive.name.text == name)
        };
        let skip = find("skip").map(|skip| self.condition(skip));
        let include = find("include").map(|include| self.condition(include));
        skip.is_some_and(|condition| !matches!(condition, Some(ValueKind::Boolean(false))))
            || include.is_some_and(|condition| !matches!(condition, None | Some(ValueKind::Boolean(true))))
    }

    /// Checks the label of `@defer`: a literal that no other `@defer` has.
    pub(super) fn label(&mut self, directive: &'w Directive<'t>) {
        if directive.name.text != "defer" || self.schema.directive("defer").is_none() {
            return;
        }
        let label = self.ast.argument(directive.arguments, "label");
        match label.map(|label| &label.kind) {
            None | Some(ValueKind::Null) => {}
            Some(ValueKind::String { text, .. }) => {
                let first = *self.labels.entry(text.as_ref()).or_insert(directive.at);
                if first != directive.at {
                    let message = "Value for arguments \"defer(label:)\" and \"stream(label:)\" must be \
                                   unique across all Defer/Stream directive usages.";
                    self.report(message.to_owned(), [first, directive.at]);
                }
            }
            Some(_) => {
                let message = "Argument \"@defer(label:)\" must be a static string.";
                self.report(message.to_owned(), [directive.at]);
            }
        }
    }

    fn defer(&self, directives: List<Directive<'t>>) -> Option<&'w Directive<'t>> {
        let mut directives = self.ast.directives(directives).iter();
        directives.find(|directive| directive.name.text == "defer")
    }

    fn condition(&self, directive: &Directive<'t>) -> Option<&'w ValueKind<'t>> {
        let condition = self.ast.argument(directive.arguments, "if")?;
        Some(&condition.kind)
    }
}
