//! A nullable variable at a place that is not nullable and has a default: the specification
//! [allows it](https://spec.graphql.org/September2025/#IsVariableUsageAllowed()), juniper refuses it.
//!
//! juniper's rules cannot be run one by one, and the last of them runs only when the others found nothing. So where it is
//! nothing but this, the document is validated once more as if those variables were declared without null. A null that is
//! given for one of them is refused when the arguments are coerced.

use std::collections::{BTreeSet, HashMap};

use juniper::meta::{Argument, MetaType};
use juniper::parser::{SourcePosition, Spanning, parse_document_source};
use juniper::validation::RuleError;
use juniper::{Definition, InputValue, OperationType, SchemaType, Selection};

use super::Scalar;
use super::read::mistakes;
use super::syntax::TypeRef;

/// What is left of `found` without the mistakes that are none.
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
        // one token more than allowed: the rest of the rules stays unknown, and the document is not let through
        Err(_) => vec![RuleError::new(
            "the document has too many tokens",
            &[SourcePosition::new_origin()],
        )],
    }
}

/// What juniper says of a variable whose type does not fit its place.
const USED: &str = "used in position expecting type";

/// `text` with `!` at each of `places`, which count characters.
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

/// The places of variables that have a default.
struct Search<'d> {
    schema: &'d SchemaType<Scalar>,
    /// The type of the place, by where the variable stands in the text.
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

    /// Looks at a value given for `name`, one of the arguments or input fields `declared`.
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

    /// Where the type of the variable ends whose use `error` refuses, if the specification allows the use.
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
            // without its null the variable must fit; what is within a list is not looked through
            let fits = !matches!(ty, TypeRef::NonNull(_)) && subtype(&ty, place.nullable());
            fits.then(|| variable.var_type.span.end.index())
        })
    }
}

/// Whether a value of `ty` can stand for one of `expected`.
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
