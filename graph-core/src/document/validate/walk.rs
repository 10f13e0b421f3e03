//! Walk over the definitions and selections of a document.

use std::collections::HashMap;

use super::Mistake;
use super::defer::Checked;
use super::overlap::Overlap;
use super::variables::Usage;
use crate::document::parse::{
    Argument, Ast, Definition, Field, Fragment, Inline, List, Operation, Selection, Spread,
    VariableDefinition,
};
use crate::response::MISTAKES;
use crate::schema::{Field as FieldDefinition, InputField, Schema, TypeId};

/// Findings in one operation or fragment.
#[derive(Default)]
pub(super) struct Found<'t> {
    pub(super) usages: Vec<Usage<'t>>,
}

pub(super) struct Walk<'w, 't> {
    pub(super) schema: &'w Schema,
    pub(super) ast: &'w Ast<'t>,
    /// The last fragment of each name.
    pub(super) fragments: HashMap<&'t str, &'w Fragment<'t>>,
    /// By definition.
    pub(super) found: Vec<Found<'t>>,
    /// Names of the fragments that each fragment spreads.
    pub(super) below: HashMap<&'t str, Vec<&'t str>>,
    /// Index of each fragment of `fragments` in `found`.
    pub(super) places: HashMap<&'t str, usize>,
    /// First `@defer` of each label.
    pub(super) labels: HashMap<&'w str, u32>,
    pub(super) deferred: Checked<'t>,
    overlap: Overlap<'w, 't>,
    reports: Vec<Report>,
}

enum Report {
    Mistake(Mistake),
    /// The checks of the variables of an operation, which need the fragments behind it.
    Variables(usize),
}

impl<'w, 't> Walk<'w, 't> {
    pub(super) fn new(schema: &'w Schema, ast: &'w Ast<'t>) -> Self {
        let fragments: HashMap<_, _> = ast
            .fragments()
            .map(|fragment| (fragment.name.text, fragment))
            .collect();
        let places = ast
            .definitions
            .iter()
            .enumerate()
            .filter_map(|(at, definition)| match definition {
                Definition::Fragment(fragment) => Some((fragment.name.text, at)),
                Definition::Operation(_) | Definition::TypeSystem { .. } => None,
            });
        let mut walk = Self {
            schema,
            ast,
            below: HashMap::new(),
            places: places.collect(),
            overlap: Overlap::new(schema, ast, fragments.clone()),
            fragments,
            found: ast.definitions.iter().map(|_| Found::default()).collect(),
            labels: HashMap::new(),
            deferred: Checked::default(),
            reports: Vec::new(),
        };
        let below = walk.fragments.iter().map(|(name, fragment)| {
            let spreads = walk.spreads(fragment.selections).into_iter();
            (*name, spreads.map(|spread| spread.name.text).collect())
        });
        walk.below = below.collect();
        walk
    }

    pub(super) fn report(&mut self, message: String, at: impl Into<Vec<u32>>) {
        // later reports cannot be among the first
        if self.reports.len() < 2 * MISTAKES {
            self.reports
                .push(Report::Mistake(Mistake::new(message, at.into())));
        }
    }

    pub(super) fn document(&mut self) {
        self.executable_definitions();
        let cycles = self.cycles();
        self.overlap.has_cycles = self.has_cycles();
        for (at, definition) in self.ast.definitions.iter().enumerate() {
            match definition {
                Definition::Operation(operation) => self.operation(at, operation),
                Definition::Fragment(fragment) => self.fragment(at, fragment, &cycles),
                Definition::TypeSystem { .. } => {}
            }
        }
    }

    /// Returns the reports, after the checks that need the whole document.
    pub(super) fn finished(mut self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for report in std::mem::take(&mut self.reports) {
            match report {
                Report::Mistake(mistake) => mistakes.push(mistake),
                Report::Variables(at) => self.variables_of(at, &mut mistakes),
            }
            if mistakes.len() >= MISTAKES {
                return mistakes;
            }
        }
        self.unused_fragments(&mut mistakes);
        mistakes
    }

    fn operation(&mut self, at: usize, operation: &'w Operation<'t>) {
        self.operation_rules(operation);
        self.unique_variables(operation);
        self.unique_directives(operation.directives);
        self.deferred_fragments(operation);
        for variable in self.ast.variables(operation.variables) {
            self.variable(at, variable);
        }
        let location = match operation.kind {
            juniper::OperationType::Query => "QUERY",
            juniper::OperationType::Mutation => "MUTATION",
            juniper::OperationType::Subscription => "SUBSCRIPTION",
        };
        self.directives(at, operation.directives, location);
        let root = self.schema.root(operation.kind);
        self.selection_set(at, root, operation.selections);
        self.reports.push(Report::Variables(at));
    }

    fn variable(&mut self, at: usize, variable: &'w VariableDefinition<'t>) {
        self.input_type(variable);
        self.unique_directives(variable.directives);
        self.known_type(variable.ty.name);
        if let Some(default) = &variable.default {
            let ty = self.type_of(variable.ty);
            let ty = ty.filter(|ty| self.schema.type_at(ty.named).is_input());
            self.value(at, default, ty);
        }
        self.directives(at, variable.directives, "VARIABLE_DEFINITION");
    }

    fn fragment(&mut self, at: usize, fragment: &'w Fragment<'t>, cycles: &HashMap<u32, Vec<Mistake>>) {
        self.fragment_rules(fragment);
        for cycle in cycles.get(&fragment.at).into_iter().flatten() {
            self.report(cycle.message.clone(), cycle.at.clone());
        }
        self.unique_directives(fragment.directives);
        self.known_type(fragment.on);
        self.directives(at, fragment.directives, "FRAGMENT_DEFINITION");
        let on = self.schema.id(fragment.on.text);
        self.selection_set(at, on, fragment.selections);
    }

    fn selection_set(&mut self, at: usize, ty: Option<TypeId>, selections: List<Selection<'t>>) {
        let parent = ty.filter(|ty| self.schema.type_at(*ty).is_composite());
        for (message, places) in self.overlap.conflicts(parent, selections) {
            self.report(message, places);
        }
        self.selections(at, parent, selections);
    }

    fn selections(&mut self, at: usize, parent: Option<TypeId>, selections: List<Selection<'t>>) {
        for selection in self.ast.selections(selections) {
            match selection {
                Selection::Field(field) => self.field(at, parent, field),
                Selection::Spread(spread) => {
                    self.spread_rules(parent, spread);
                    self.unique_directives(spread.directives);
                    self.directives(at, spread.directives, "FRAGMENT_SPREAD");
                }
                Selection::Inline(inline) => self.inline(at, parent, inline),
            }
        }
    }

    fn field(&mut self, at: usize, parent: Option<TypeId>, field: &'w Field<'t>) {
        let schema = self.schema;
        let definition = parent.and_then(|parent| schema.selectable(parent, field.name.text));
        self.leaf(field, definition);
        self.exists(parent, field, definition);
        self.unique_directives(field.directives);
        self.unique_arguments(field.arguments);
        for argument in self.ast.arguments(field.arguments) {
            let known = definition.and_then(|definition| definition.argument(argument.name.text));
            if let (None, Some(definition), Some(parent)) = (known, definition, parent) {
                self.unknown_argument(argument, definition, parent);
            }
            self.argument(at, argument, known);
        }
        self.directives(at, field.directives, "FIELD");
        if !field.selections.is_empty() {
            self.selection_set(
                at,
                definition.map(|definition| definition.ty.named),
                field.selections,
            );
        }
        if let Some(definition) = definition {
            self.required_arguments(field, definition);
        }
    }

    pub(super) fn argument(
        &mut self,
        at: usize,
        argument: &'w Argument<'t>,
        definition: Option<&'w InputField>,
    ) {
        let input = definition.map(|definition| definition.ty);
        let has_default = definition.is_some_and(|definition| definition.default.is_some());
        self.value_at(at, &argument.value, input, has_default);
    }

    fn inline(&mut self, at: usize, parent: Option<TypeId>, inline: &'w Inline<'t>) {
        self.inline_rules(parent, inline);
        self.unique_directives(inline.directives);
        let ty = match inline.on {
            Some(on) => {
                self.known_type(on);
                self.schema.id(on.text)
            }
            None => parent,
        };
        self.directives(at, inline.directives, "INLINE_FRAGMENT");
        // its fields are compared where the fragment stands
        let parent = ty.filter(|ty| self.schema.type_at(*ty).is_composite());
        self.selections(at, parent, inline.selections);
    }

    /// Spreads of a selection set and of the sets inside it, in the order of graphql-js.
    pub(super) fn spreads(&self, selections: List<Selection<'t>>) -> Vec<&'w Spread<'t>> {
        let (mut spreads, mut sets) = (Vec::new(), vec![selections]);
        while let Some(set) = sets.pop() {
            for selection in self.ast.selections(set) {
                match selection {
                    Selection::Spread(spread) => spreads.push(spread),
                    Selection::Field(field) if field.selections.is_empty() => {}
                    Selection::Field(field) => sets.push(field.selections),
                    Selection::Inline(inline) => sets.push(inline.selections),
                }
            }
        }
        spreads
    }

    /// Prints the type of a field.
    pub(super) fn printed(&self, definition: &FieldDefinition) -> String {
        self.schema.print(definition.ty)
    }
}
