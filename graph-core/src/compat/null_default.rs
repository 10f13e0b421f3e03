//! A variable whose default is null, at a place that takes no null: juniper takes any default for one that is not null.
//!
//! See [all variable usages are allowed](https://spec.graphql.org/September2025/#IsVariableUsageAllowed()).

use std::collections::HashSet;

use juniper::meta::{Argument, MetaType};
use juniper::{InputValue, OperationType, SchemaType};

use super::Scalar;
use super::syntax::{Field, Selection, Syntax, TypeRef};
use crate::error::ErrorCode;
use crate::response::{GraphResponse, ResponseError};

/// Refuses the operation when one of its variables is such.
pub(super) fn check(schema: &SchemaType<Scalar>, syntax: &Syntax<'_>) -> Result<(), GraphResponse> {
    let variables = syntax.operation.variables.iter();
    let suspects: HashSet<_> = variables
        .filter(|variable| variable.default == Some(InputValue::Null))
        .map(|variable| variable.name)
        .collect();
    if suspects.is_empty() {
        return Ok(());
    }
    let mut search = Search {
        schema,
        syntax,
        suspects,
        spread: HashSet::new(),
        mistakes: Vec::new(),
    };
    let root = match syntax.operation.kind {
        OperationType::Query => Some(schema.concrete_query_type()),
        OperationType::Mutation => schema.concrete_mutation_type(),
        OperationType::Subscription => schema.concrete_subscription_type(),
    };
    search.selections(root, &syntax.operation.selections);
    if search.mistakes.is_empty() {
        return Ok(());
    }
    Err(GraphResponse::request_errors(search.mistakes))
}

struct Search<'d> {
    schema: &'d SchemaType<Scalar>,
    syntax: &'d Syntax<'d>,
    /// The variables whose default is null.
    suspects: HashSet<&'d str>,
    spread: HashSet<&'d str>,
    mistakes: Vec<ResponseError>,
}

impl<'d> Search<'d> {
    fn selections(&mut self, parent: Option<&'d MetaType<Scalar>>, selections: &'d [Selection<'d>]) {
        for selection in selections {
            match selection {
                Selection::Field(field) => self.field(parent, field),
                Selection::Spread { name, .. } => {
                    let syntax = self.syntax;
                    if let (true, Some(fragment)) = (self.spread.insert(name), syntax.fragments.get(name)) {
                        let on = self.schema.concrete_type_by_name(fragment.on);
                        self.selections(on, &fragment.selections);
                    }
                }
                Selection::Inline { on, selections, .. } => {
                    let on = on.map_or(parent, |on| self.schema.concrete_type_by_name(on));
                    self.selections(on, selections);
                }
            }
        }
    }

    fn field(&mut self, parent: Option<&'d MetaType<Scalar>>, field: &'d Field<'d>) {
        let Some(meta) = parent.and_then(|parent| parent.field_by_name(field.name)) else {
            return;
        };
        let declared = meta.arguments.as_deref().unwrap_or_default();
        for (name, value) in &field.arguments {
            self.given(declared, name, value, field);
        }
        let below = self
            .schema
            .concrete_type_by_name(meta.field_type.innermost_name());
        self.selections(below, &field.selections);
    }

    /// Looks at a value given for `name`, one of the arguments or input fields `declared`.
    fn given(&mut self, declared: &[Argument<Scalar>], name: &str, value: &InputValue, field: &Field<'_>) {
        if let Some(declared) = declared.iter().find(|argument| argument.name == *name) {
            let ty = TypeRef::new(&declared.arg_type);
            let ty = if declared.default_value.is_some() {
                ty.nullable()
            } else {
                &ty
            };
            self.value(ty, value, field);
        }
    }

    fn value(&mut self, ty: &TypeRef, value: &InputValue, field: &Field<'_>) {
        match (ty, value) {
            (TypeRef::NonNull(_), InputValue::Variable(name)) if self.suspects.contains(name.as_str()) => {
                let message =
                    format!("Variable \"${name}\" may be null, which a value of type \"{ty}\" is not");
                let mistake = ResponseError::new(ErrorCode::GraphqlValidationFailed, message);
                self.mistakes.push(mistake.at(field.location));
            }
            (TypeRef::NonNull(inner), value) => self.value(inner, value, field),
            (TypeRef::List(inner), InputValue::List(values)) => {
                for value in values {
                    self.value(inner, &value.item, field);
                }
            }
            (TypeRef::List(inner), value) => self.value(inner.nullable(), value, field),
            (TypeRef::Named(name), InputValue::Object(fields)) => {
                let schema = self.schema;
                if let Some(MetaType::InputObject(object)) = schema.concrete_type_by_name(name) {
                    for (name, value) in fields {
                        self.given(&object.input_fields, &name.item, &value.item, field);
                    }
                }
            }
            (TypeRef::Named(_), _) => {}
        }
    }
}
