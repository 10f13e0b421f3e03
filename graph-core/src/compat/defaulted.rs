//! Nullable variables at a non-null position that has a default value. The specification
//! [allows](https://spec.graphql.org/September2025/#IsVariableUsageAllowed()) this usage, but
//! juniper refuses it.
//!
//! juniper's rules cannot be run one by one, and its last rule runs only if the other rules found
//! no error. If such usages are the only errors, the document is validated again as if their
//! variables were declared non-null. Argument coercion refuses null as the value of such a
//! variable.

use std::collections::{BTreeSet, HashMap};

use juniper::meta::{Argument, MetaType};
use juniper::parser::{SourcePosition, Spanning, parse_document_source};
use juniper::validation::RuleError;
use juniper::{Definition, InputValue, OperationType, SchemaType, Selection};

use super::Scalar;
use super::read::mistakes;
use super::syntax::TypeRef;

/// Returns `found` without the errors about usages that the specification allows.
pub(super) fn without_excused(
    schema: &SchemaType<Scalar>,
    text: &str,
    document: &[Definition<'_, Scalar>],
    found: Vec<RuleError>,
) -> Vec<RuleError> {
    let mut search = Search {
        schema,
        usages: HashMap::new(),
    };
    if !found.iter().any(|error| error.message().contains(USED)) {
        return found;
    }
    search.document(document);
    let mut declarations = BTreeSet::new();
    let left: Vec<_> = found
        .into_iter()
        .filter(|error| match search.excuse(document, error) {
            Some(end_of_type) => {
                declarations.insert(end_of_type);
                false
            }
            None => true,
        })
        .collect();
    if !left.is_empty() || declarations.is_empty() {
        return left;
    }
    let strict = with_marks(text, &declarations);
    match parse_document_source(&strict, schema) {
        Ok(document) => mistakes(schema, &document),
        // the inserted `!` exceeded the token limit, so the last rule cannot run
        Err(_) => vec![RuleError::new(
            "the document has too many tokens",
            &[SourcePosition::new_origin()],
        )],
    }
}

/// Part of juniper's message for a variable whose type does not fit its position.
const USED: &str = "used in position expecting type";

/// Inserts `!` into `text` at each of `places`, counted in characters.
fn with_marks(text: &str, places: &BTreeSet<usize>) -> String {
    let mut marked = String::with_capacity(text.len() + places.len());
    for (at, character) in text.chars().enumerate() {
        if places.contains(&at) {
            marked.push('!');
        }
        marked.push(character);
    }
    marked
}

/// Search for variables at positions that have a default.
struct Search<'d> {
    schema: &'d SchemaType<Scalar>,
    /// Type of each position, by the index of the variable in the text (in characters).
    usages: HashMap<usize, TypeRef>,
}

impl<'d> Search<'d> {
    fn document(&mut self, document: &'d [Definition<'d, Scalar>]) {
        for definition in document {
            match definition {
                Definition::Operation(operation) => {
                    let root = match operation.item.operation_type {
                        OperationType::Query => Some(self.schema.concrete_query_type()),
                        OperationType::Mutation => self.schema.concrete_mutation_type(),
                        OperationType::Subscription => self.schema.concrete_subscription_type(),
                    };
                    self.selections(root, &operation.item.selection_set);
                }
                Definition::Fragment(fragment) => {
                    let on = fragment.item.type_condition.item;
                    let on = self.schema.concrete_type_by_name(on);
                    self.selections(on, &fragment.item.selection_set);
                }
            }
        }
    }

    fn selections(&mut self, parent: Option<&'d MetaType<Scalar>>, selections: &'d [Selection<'d, Scalar>]) {
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    let field = &field.item;
                    let Some(meta) = parent.and_then(|parent| parent.field_by_name(field.name.item)) else {
                        continue;
                    };
                    let declared = meta.arguments.as_deref().unwrap_or_default();
                    for (name, value) in field.arguments.iter().flat_map(|arguments| &arguments.item.items) {
                        self.place(declared, name.item, value);
                    }
                    let below = self
                        .schema
                        .concrete_type_by_name(meta.field_type.innermost_name());
                    self.selections(below, field.selection_set.as_deref().unwrap_or_default());
                }
                Selection::InlineFragment(fragment) => {
                    let on = fragment.item.type_condition.as_ref();
                    let on = on.map_or(parent, |on| self.schema.concrete_type_by_name(on.item));
                    self.selections(on, &fragment.item.selection_set);
                }
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    /// Records the position `name`, one of `declared`, if `value` is a variable and the position
    /// has a default. Searches inside any other value.
    fn place(&mut self, declared: &'d [Argument<Scalar>], name: &str, value: &'d Spanning<InputValue>) {
        let Some(declared) = declared.iter().find(|argument| argument.name == *name) else {
            return;
        };
        match &value.item {
            InputValue::Variable(_) if declared.default_value.is_some() => {
                let ty = TypeRef::new(&declared.arg_type);
                self.usages.insert(value.span.start.index(), ty);
            }
            value => self.inside(declared.arg_type.innermost_name(), value),
        }
    }

    fn inside(&mut self, ty: &str, value: &'d InputValue) {
        match value {
            InputValue::List(values) => {
                for value in values {
                    self.inside(ty, &value.item);
                }
            }
            InputValue::Object(fields) => {
                if let Some(MetaType::InputObject(object)) = self.schema.concrete_type_by_name(ty) {
                    for (name, value) in fields {
                        self.place(&object.input_fields, &name.item, value);
                    }
                }
            }
            InputValue::Null | InputValue::Scalar(_) | InputValue::Enum(_) | InputValue::Variable(_) => {}
        }
    }

    /// If the specification allows the usage that `error` reports, returns the end of the
    /// variable's declared type.
    fn excuse(&self, document: &[Definition<'_, Scalar>], error: &RuleError) -> Option<usize> {
        let [declared, used] = error.locations() else {
            return None;
        };
        if !error.message().contains(USED) {
            return None;
        }
        let place = self.usages.get(&used.index())?;
        let mut operations = document.iter().filter_map(|definition| match definition {
            Definition::Operation(operation) => operation.item.variables_definition.as_ref(),
            Definition::Fragment(_) => None,
        });
        operations.find_map(|variables| {
            let mut variables = variables.item.items.iter();
            let (_, variable) = variables.find(|(name, _)| name.span.start == *declared)?;
            let ty = TypeRef::new(&variable.var_type.item);
            // only outer nullability is relaxed, not that of list elements
            let fits = !matches!(ty, TypeRef::NonNull(_)) && subtype(&ty, place.nullable());
            fits.then(|| variable.var_type.span.end.index())
        })
    }
}

/// Returns `true` if a value of `ty` is valid for `expected`.
fn subtype(ty: &TypeRef, expected: &TypeRef) -> bool {
    match (ty, expected) {
        (TypeRef::NonNull(ty), TypeRef::NonNull(expected)) | (TypeRef::List(ty), TypeRef::List(expected)) => {
            subtype(ty, expected)
        }
        (TypeRef::NonNull(ty), expected) => subtype(ty, expected),
        (TypeRef::Named(ty), TypeRef::Named(expected)) => ty == expected,
        _ => false,
    }
}
