//! Parses and validates a document.

use std::collections::HashSet;

use juniper::parser::{ParseError, Spanning, parse_document_source};
use juniper::validation::{RuleError, ValidatorContext, visit_all_rules};
use juniper::{Definition, SchemaType, Selection};

use super::syntax::{Syntax, narrow};
use super::{Scalar, declared, defaulted, location};
use crate::error::ErrorCode;
use crate::response::{GraphResponse, MISTAKES, ResponseError};

/// Parses `text` and validates the operation `name`, or the only operation.
pub(crate) fn read<'t>(
    schema: &SchemaType<Scalar>,
    text: &'t str,
    name: Option<&str>,
) -> Result<Syntax<'t>, GraphResponse> {
    let document = parse_document_source(text, schema).map_err(|error| unparsed(&error))?;
    let mut mistakes = declared::unknown_types(schema, &document);
    if mistakes.is_empty() {
        mistakes = misfits(schema, text, &document);
    }
    if mistakes.is_empty()
        && let Some(text) = declared::without_null_defaults(text, &document)
    {
        let document = parse_document_source(&text, schema).map_err(|error| unparsed(&error))?;
        mistakes = misfits(schema, &text, &document);
    }
    mistakes.extend(repeated_directives(&document));
    if !mistakes.is_empty() {
        return Err(invalid(&mistakes));
    }
    narrow(document, name)
        .map_err(|why| GraphResponse::request_error(ErrorCode::OperationResolutionFailure, why))
}

/// Returns the validation errors of juniper, except errors that the specification does not have.
fn misfits(schema: &SchemaType<Scalar>, text: &str, document: &[Definition<'_, Scalar>]) -> Vec<RuleError> {
    let found = mistakes(schema, document);
    if found.is_empty() {
        return found;
    }
    defaulted::without_excused(schema, text, document, found)
}

/// Names of the operations of `text`, in document order.
pub(crate) fn operations(
    schema: &SchemaType<Scalar>,
    text: &str,
) -> Result<Vec<Option<Box<str>>>, GraphResponse> {
    let document = parse_document_source(text, schema).map_err(|error| unparsed(&error))?;
    let names = document.iter().filter_map(|definition| match definition {
        Definition::Operation(operation) => Some(operation.item.name.as_ref().map(|name| name.item.into())),
        Definition::Fragment(_) => None,
    });
    Ok(names.collect())
}

/// Validation errors of juniper, in document order.
pub(super) fn mistakes(schema: &SchemaType<Scalar>, document: &[Definition<'_, Scalar>]) -> Vec<RuleError> {
    let mut validator = ValidatorContext::new(schema, document);
    visit_all_rules(&mut validator, document);
    validator.into_errors()
}

fn unparsed(error: &Spanning<ParseError>) -> GraphResponse {
    let code = match error.item {
        ParseError::DepthLimitExceeded(_) => ErrorCode::MaxDepthExceeded,
        ParseError::FieldLimitExceeded(_) => ErrorCode::MaxCostExceeded,
        _ => ErrorCode::GraphqlParseFailed,
    };
    let reported = ResponseError::new(code, error.item.to_string());
    reported.at(location(&error.span.start)).into()
}

fn invalid(errors: &[RuleError]) -> GraphResponse {
    let reported = errors.iter().take(MISTAKES).map(|error| {
        let refused = ResponseError::new(ErrorCode::GraphqlValidationFailed, error.message());
        let places = error.locations().iter();
        places.fold(refused, |refused, at| refused.at(location(at)))
    });
    GraphResponse::request_errors(reported.collect())
}

/// Reports repeated directives of a list. A macro, because the type of the list cannot be named.
macro_rules! unique {
    ($directives:expr, $repeated:expr) => {
        let mut known = HashSet::new();
        for directive in $directives.iter().flatten() {
            let name = directive.item.name.item;
            if !known.insert(name) {
                let message = format!("The directive \"@{name}\" can only be used once at this location");
                $repeated.push(RuleError::new(&message, &[directive.span.start]));
            }
        }
    };
}

/// Reports directives that are [repeated at one
/// location](https://spec.graphql.org/September2025/#sec-Directives-Are-Unique-per-Location), which
/// juniper does not check.
fn repeated_directives(document: &[Definition<'_, Scalar>]) -> Vec<RuleError> {
    let mut repeated = Vec::new();
    for definition in document {
        match definition {
            Definition::Operation(operation) => {
                unique!(operation.item.directives, repeated);
                for (_, variable) in operation
                    .item
                    .variables_definition
                    .iter()
                    .flat_map(|all| &all.item.items)
                {
                    unique!(variable.directives, repeated);
                }
                in_selections(&operation.item.selection_set, &mut repeated);
            }
            Definition::Fragment(fragment) => {
                unique!(fragment.item.directives, repeated);
                in_selections(&fragment.item.selection_set, &mut repeated);
            }
        }
    }
    repeated
}

fn in_selections(selections: &[Selection<'_, Scalar>], repeated: &mut Vec<RuleError>) {
    for selection in selections {
        match selection {
            Selection::Field(field) => {
                unique!(field.item.directives, repeated);
                in_selections(field.item.selection_set.as_deref().unwrap_or_default(), repeated);
            }
            Selection::FragmentSpread(spread) => {
                unique!(spread.item.directives, repeated);
            }
            Selection::InlineFragment(fragment) => {
                unique!(fragment.item.directives, repeated);
                in_selections(&fragment.item.selection_set, repeated);
            }
        }
    }
}

/// Parses a text that [`read`] accepted before, without validating it again.
pub(crate) fn again<'t>(
    schema: &SchemaType<Scalar>,
    text: &'t str,
    name: Option<&str>,
) -> Result<Syntax<'t>, GraphResponse> {
    let document = parse_document_source(text, schema).map_err(|error| unparsed(&error))?;
    narrow(document, name)
        .map_err(|why| GraphResponse::request_error(ErrorCode::OperationResolutionFailure, why))
}
