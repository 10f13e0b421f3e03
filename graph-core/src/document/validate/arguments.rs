//! [Arguments](https://spec.graphql.org/September2025/#sec-Validation.Arguments).

use indexmap::IndexMap;

use super::walk::Walk;
use crate::document::parse::{Argument, Field, List};
use crate::schema::{Field as FieldDefinition, InputField, TypeId};

impl<'w, 't> Walk<'w, 't> {
    /// 5.4.1 Argument Names.
    pub(super) fn unknown_argument(
        &mut self,
        argument: &'w Argument<'t>,
        definition: &FieldDefinition,
        parent: TypeId,
    ) {
        let (name, parent) = (argument.name, &self.schema.type_at(parent).name);
        let message = format!(
            "Unknown argument \"{}\" on field \"{parent}.{}\".",
            name.text, definition.name
        );
        self.report(message, [name.at]);
    }

    /// 5.4.2 Argument Uniqueness.
    pub(super) fn unique_arguments(&mut self, arguments: List<Argument<'t>>) {
        if arguments.len() < 2 {
            return;
        }
        let mut places: IndexMap<&str, Vec<u32>> = IndexMap::new();
        for argument in self.ast.arguments(arguments) {
            places
                .entry(argument.name.text)
                .or_default()
                .push(argument.name.at);
        }
        for (name, places) in places {
            if places.len() > 1 {
                self.report(
                    format!("There can be only one argument named \"{name}\"."),
                    places,
                );
            }
        }
    }

    /// 5.4.3 Required Arguments.
    pub(super) fn required_arguments(&mut self, field: &Field<'t>, definition: &FieldDefinition) {
        for missing in self.missing(field.arguments, &definition.arguments) {
            let ty = self.schema.print(missing.ty);
            let message = format!(
                "Field \"{}\" argument \"{}\" of type \"{ty}\" is required, but it was not provided.",
                definition.name, missing.name
            );
            self.report(message, [field.at()]);
        }
    }

    /// Required arguments of `declared` that `given` lacks.
    pub(super) fn missing<'d>(
        &self,
        given: List<Argument<'t>>,
        declared: &'d [InputField],
    ) -> Vec<&'d InputField> {
        let required = declared.iter().filter(|argument| argument.is_required());
        required
            .filter(|argument| self.ast.argument(given, &argument.name).is_none())
            .collect()
    }
}
