//! Documents, narrowed to one operation.

use std::collections::HashMap;

use indexmap::IndexSet;

use super::parse::{
    Ast, Directive, Field, Fragment, Lines, List, Operation, ParseLimits, Selection, SyntaxError, Value,
    ValueKind, parse,
};
use super::validate::{extent, validate};
use crate::error::ErrorCode;
use crate::limits::EXPANDED_FIELDS;
use crate::response::{GraphResponse, ResponseError};
use crate::schema::Schema;

/// Parses `text` and refuses it if a definition is too large with its fragments expanded.
pub(crate) fn parsed(text: &str, limits: ParseLimits) -> Result<Ast<'_>, GraphResponse> {
    let ast = parse(text, limits).map_err(|error| unparsed(text, &error))?;
    let extent = extent(&ast, limits.depth);
    if extent.depth > limits.depth {
        let message = format!("Document nesting exceeds the limit of {} levels", limits.depth);
        return Err(GraphResponse::request_error(ErrorCode::MaxDepthExceeded, message));
    }
    if extent.fields > EXPANDED_FIELDS {
        let message = format!("Document exceeds the limit of {EXPANDED_FIELDS} fields");
        return Err(GraphResponse::request_error(ErrorCode::MaxCostExceeded, message));
    }
    Ok(ast)
}

fn unparsed(text: &str, error: &SyntaxError) -> GraphResponse {
    let code = match error.is_too_deep {
        true => ErrorCode::MaxDepthExceeded,
        false => ErrorCode::GraphqlParseFailed,
    };
    let reported = ResponseError::new(code, format!("Syntax Error: {}", error.message));
    reported.at(Lines::new(text).location(error.at)).into()
}

/// Validates a parsed document.
pub(crate) fn validated(schema: &Schema, ast: &Ast<'_>) -> Result<(), GraphResponse> {
    let mistakes = validate(schema, ast);
    if mistakes.is_empty() {
        return Ok(());
    }
    let lines = Lines::new(ast.text);
    let reported = mistakes.into_iter().map(|mistake| {
        let refused = ResponseError::new(ErrorCode::GraphqlValidationFailed, mistake.message);
        let places = mistake.at.into_iter();
        places.fold(refused, |refused, at| refused.at(lines.location(at)))
    });
    Err(GraphResponse::request_errors(reported.collect()))
}

/// Valid document, narrowed to one operation.
#[derive(Debug)]
pub(crate) struct OperationTree<'d, 't> {
    pub(crate) ast: &'d Ast<'t>,
    pub(crate) operation: &'d Operation<'t>,
    pub(crate) fragments: HashMap<&'t str, &'d Fragment<'t>>,
    pub(crate) lines: Lines,
}

impl<'d, 't> OperationTree<'d, 't> {
    /// Selects the operation `name`, or without a name the only operation.
    pub(crate) fn new(ast: &'d Ast<'t>, name: Option<&str>) -> Result<Self, GraphResponse> {
        let mut operations = ast.operations();
        let found = match name {
            Some(name) => {
                let found =
                    operations.find(|operation| operation.name.is_some_and(|known| known.text == name));
                found.ok_or("Unknown operation name")
            }
            None => match (operations.next(), operations.next()) {
                (Some(only), None) => Ok(only),
                (Some(_), Some(_)) => Err("Multiple operations provided"),
                (None, _) => Err("Unknown operation name"),
            },
        };
        let refused = |why| GraphResponse::request_error(ErrorCode::OperationResolutionFailure, why);
        Ok(Self {
            ast,
            operation: found.map_err(refused)?,
            fragments: ast
                .fragments()
                .map(|fragment| (fragment.name.text, fragment))
                .collect(),
            lines: Lines::new(ast.text),
        })
    }

    pub(crate) fn argument(&self, field: &Field<'t>, name: &str) -> Option<&'d Value<'t>> {
        self.ast.argument(field.arguments, name)
    }

    /// Conditions of `@skip` and `@include`, each with the value that keeps the selection.
    pub(crate) fn conditions(
        &self,
        directives: List<Directive<'t>>,
    ) -> impl Iterator<Item = (bool, &'d ValueKind<'t>)> {
        self.ast.directives(directives).iter().filter_map(|directive| {
            let wanted = match directive.name.text {
                "include" => true,
                "skip" => false,
                _ => return None,
            };
            let value = self.ast.argument(directive.arguments, "if")?;
            Some((wanted, &value.kind))
        })
    }

    /// The directive `@defer`.
    pub(crate) fn defer(&self, directives: List<Directive<'t>>) -> Option<&'d Directive<'t>> {
        let mut directives = self.ast.directives(directives).iter();
        directives.find(|directive| directive.name.text == "defer")
    }

    /// Conditions of all `@defer`; `None` for a directive without a condition.
    pub(crate) fn deferring(&self) -> Vec<Option<&'d ValueKind<'t>>> {
        let fragments = self.ast.fragments().map(|fragment| fragment.selections);
        let mut sets: Vec<_> = fragments.chain([self.operation.selections]).collect();
        let mut conditions = Vec::new();
        while let Some(set) = sets.pop() {
            for selection in self.ast.selections(set) {
                let directives = match selection {
                    Selection::Field(field) => {
                        sets.push(field.selections);
                        continue;
                    }
                    Selection::Spread(spread) => spread.directives,
                    Selection::Inline(inline) => {
                        sets.push(inline.selections);
                        inline.directives
                    }
                };
                if let Some(defer) = self.defer(directives) {
                    let condition = self.ast.argument(defer.arguments, "if");
                    conditions.push(condition.map(|condition| &condition.kind));
                }
            }
        }
        conditions
    }

    /// Names of the variables used in `@skip` and `@include`: first in the operation, then in the
    /// fragments by name.
    pub(crate) fn deciding(&self) -> Box<[Box<str>]> {
        let mut names = IndexSet::new();
        self.deciding_in(self.operation.selections, &mut names);
        let mut fragments: Vec<_> = self.fragments.iter().collect();
        fragments.sort_by_key(|(name, _)| **name);
        for (_, fragment) in fragments {
            self.deciding_in(fragment.selections, &mut names);
        }
        names.into_iter().map(Into::into).collect()
    }

    fn deciding_in(&self, set: List<Selection<'t>>, names: &mut IndexSet<&'t str>) {
        for selection in self.ast.selections(set) {
            let (directives, below) = match selection {
                Selection::Field(field) => (field.directives, field.selections),
                Selection::Spread(spread) => (spread.directives, List::default()),
                Selection::Inline(inline) => (inline.directives, inline.selections),
            };
            for (_, value) in self.conditions(directives) {
                if let ValueKind::Variable(name) = value {
                    names.insert(name);
                }
            }
            self.deciding_in(below, names);
        }
    }
}
