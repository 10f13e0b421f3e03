//! [Directives](https://spec.graphql.org/September2025/#sec-Validation.Directives).

use std::collections::HashMap;

use super::walk::Walk;
use crate::document::parse::{Directive, List};

impl<'w, 't> Walk<'w, 't> {
    /// 5.7.3 Directives Are Unique per Location.
    pub(super) fn unique_directives(&mut self, directives: List<Directive<'t>>) {
        if directives.len() < 2 {
            return;
        }
        let mut first: HashMap<&str, u32> = HashMap::new();
        for directive in self.ast.directives(directives) {
            let name = directive.name.text;
            let is_unique = self
                .schema
                .directive(name)
                .is_some_and(|known| !known.is_repeatable);
            if !is_unique {
                continue;
            }
            let before = *first.entry(name).or_insert(directive.at);
            if before != directive.at {
                let message = format!("The directive \"@{name}\" can only be used once at this location.");
                self.report(message, [before, directive.at]);
            }
        }
    }

    pub(super) fn directives(&mut self, at: usize, directives: List<Directive<'t>>, location: &str) {
        for directive in self.ast.directives(directives) {
            self.directive(at, directive, location);
        }
    }

    fn directive(&mut self, at: usize, directive: &'w Directive<'t>, location: &str) {
        let name = directive.name.text;
        let schema = self.schema;
        let definition = schema.directive(name);
        match definition {
            // 5.7.1 Directives Are Defined
            None => self.report(format!("Unknown directive \"@{name}\"."), [directive.at]),
            // 5.7.2 Directives Are in Valid Locations
            Some(known) if !known.locations.iter().any(|known| known == location) => {
                let message = format!("Directive \"@{name}\" may not be used on {location}.");
                self.report(message, [directive.at]);
            }
            Some(_) => {}
        }
        self.label(directive);
        let arguments = self.ast.arguments(directive.arguments);
        let known = |name: &str| {
            let mut declared = definition?.arguments.iter();
            declared.find(|argument| argument.name == *name)
        };
        for argument in arguments {
            if definition.is_some() && known(argument.name.text).is_none() {
                let message = format!(
                    "Unknown argument \"{}\" on directive \"@{name}\".",
                    argument.name.text
                );
                self.report(message, [argument.name.at]);
            }
        }
        self.unique_arguments(directive.arguments);
        for argument in arguments {
            self.argument(at, argument, known(argument.name.text));
        }
        let declared = definition.map_or(&[][..], |definition| &definition.arguments);
        for missing in self.missing(directive.arguments, declared) {
            let ty = schema.print(missing.ty);
            let message = format!(
                "Directive \"@{name}\" argument \"{}\" of type \"{ty}\" is required, but it was not provided.",
                missing.name
            );
            self.report(message, [directive.at]);
        }
    }
}
