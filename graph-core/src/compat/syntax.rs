//! Own types for an operation and its fragments, because juniper does not export its types.

use std::collections::HashMap;

use indexmap::IndexMap;
use juniper::{Definition, InputValue, OperationType, Selection as TheirSelection, Spanning, Type};

use super::Scalar;
use crate::response::Location;

/// A parsed document, narrowed to one operation.
#[derive(Debug)]
pub(crate) struct Syntax<'t> {
    pub(crate) operation: Operation<'t>,
    pub(crate) fragments: HashMap<&'t str, Fragment<'t>>,
}

#[derive(Debug)]
pub(crate) struct Operation<'t> {
    pub(crate) kind: OperationType,
    #[cfg(feature = "tracing")]
    pub(crate) name: Option<&'t str>,
    /// By name, in the order of the document.
    pub(crate) variables: IndexMap<&'t str, Variable>,
    pub(crate) selections: Vec<Selection<'t>>,
}

/// A variable that an operation declares.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) ty: TypeRef,
    pub(crate) default: Option<InputValue>,
    pub(crate) location: Location,
}

#[derive(Debug)]
pub(crate) struct Fragment<'t> {
    /// The type condition.
    pub(crate) on: &'t str,
    pub(crate) selections: Vec<Selection<'t>>,
}

#[derive(Debug)]
pub(crate) enum Selection<'t> {
    Field(Field<'t>),
    Spread {
        name: &'t str,
        conditions: Vec<Condition>,
    },
    Inline {
        on: Option<&'t str>,
        conditions: Vec<Condition>,
        selections: Vec<Self>,
    },
}

#[derive(Debug)]
pub(crate) struct Field<'t> {
    pub(crate) alias: Option<&'t str>,
    pub(crate) name: &'t str,
    pub(crate) arguments: Vec<(&'t str, InputValue)>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) selections: Vec<Selection<'t>>,
    pub(crate) location: Location,
}

impl<'t> Field<'t> {
    /// The response key.
    pub(crate) fn key(&self) -> &'t str {
        self.alias.unwrap_or(self.name)
    }

    pub(crate) fn argument(&self, name: &str) -> Option<&InputValue> {
        let mut arguments = self.arguments.iter();
        arguments.find_map(|(known, value)| (*known == name).then_some(value))
    }
}

/// `@skip` or `@include`.
#[derive(Debug)]
pub(crate) struct Condition {
    /// Value of the argument `if` that keeps the selection.
    pub(crate) wanted: bool,
    pub(crate) value: InputValue,
}

/// Reference to a type, for example `[Int!]!`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum TypeRef {
    Named(Box<str>),
    List(Box<Self>),
    NonNull(Box<Self>),
}

impl TypeRef {
    /// Converts juniper's type.
    pub(crate) fn new(ty: &Type<impl AsRef<str>>) -> Self {
        // a modifier can be compared but not named outside juniper
        let sample: Type = Type::nullable("").wrap_non_null();
        let named = Self::Named(ty.innermost_name().into());
        ty.modifiers().iter().fold(named, |inner, modifier| {
            if Some(modifier) == sample.modifier() {
                Self::NonNull(Box::new(inner))
            } else {
                Self::List(Box::new(inner))
            }
        })
    }

    /// The type without its outer `!`.
    pub(crate) fn nullable(&self) -> &Self {
        match self {
            Self::NonNull(inner) => inner,
            Self::Named(_) | Self::List(_) => self,
        }
    }

    /// Number of nested lists.
    pub(crate) fn lists(&self) -> u32 {
        match self {
            Self::Named(_) => 0,
            Self::List(inner) => 1 + inner.lists(),
            Self::NonNull(inner) => inner.lists(),
        }
    }
}

impl std::fmt::Display for TypeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::List(inner) => write!(f, "[{inner}]"),
            Self::NonNull(inner) => write!(f, "{inner}!"),
        }
    }
}

/// Narrows a document to the operation `name`, or without a name to its only operation.
pub(crate) fn narrow<'t>(
    definitions: Vec<Definition<'t, Scalar>>,
    name: Option<&str>,
) -> Result<Syntax<'t>, &'static str> {
    let (mut operation, mut fragments) = (None, HashMap::new());
    for definition in definitions {
        match definition {
            Definition::Operation(found) => {
                if name.is_none() && operation.is_some() {
                    return Err("Multiple operations provided");
                }
                if name.is_none() || found.item.name.as_ref().map(|name| name.item) == name {
                    operation = Some(found.item);
                }
            }
            Definition::Fragment(fragment) => {
                let fragment = fragment.item;
                let selections = selections(fragment.selection_set);
                let on = fragment.type_condition.item;
                fragments.insert(fragment.name.item, Fragment { on, selections });
            }
        }
    }
    let operation = operation.ok_or("Unknown operation name")?;
    let declared = operation.variables_definition.map(|declared| declared.item.items);
    let variables = declared.into_iter().flatten().map(|(name, declared)| {
        let variable = Variable {
            ty: TypeRef::new(&declared.var_type.item),
            default: declared.default_value.map(|default| default.item),
            location: super::location(&name.span.start),
        };
        (name.item, variable)
    });
    Ok(Syntax {
        operation: Operation {
            kind: operation.operation_type,
            #[cfg(feature = "tracing")]
            name: operation.name.as_ref().map(|name| name.item),
            variables: variables.collect(),
            selections: selections(operation.selection_set),
        },
        fragments,
    })
}

/// Reads `@skip` and `@include` of a list of directives and ignores others.
macro_rules! conditions {
    ($directives:expr) => {
        $directives
            .into_iter()
            .flatten()
            .filter_map(|directive| {
                let wanted = match directive.item.name.item {
                    "include" => true,
                    "skip" => false,
                    _ => return None,
                };
                let arguments = directive.item.arguments.map(|arguments| arguments.item.items);
                let mut arguments = arguments.into_iter().flatten();
                let value = arguments.find_map(|(name, value)| (name.item == "if").then_some(value.item));
                value.map(|value| Condition { wanted, value })
            })
            .collect()
    };
}

fn selections(theirs: Vec<TheirSelection<'_, Scalar>>) -> Vec<Selection<'_>> {
    let ours = theirs.into_iter().map(|selection| match selection {
        TheirSelection::Field(Spanning { item: field, span }) => Selection::Field(Field {
            alias: field.alias.map(|alias| alias.item),
            name: field.name.item,
            arguments: field
                .arguments
                .map(|arguments| arguments.item.items)
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.item, value.item))
                .collect(),
            conditions: conditions!(field.directives),
            selections: field.selection_set.map(selections).unwrap_or_default(),
            location: super::location(&span.start),
        }),
        TheirSelection::FragmentSpread(spread) => Selection::Spread {
            name: spread.item.name.item,
            conditions: conditions!(spread.item.directives),
        },
        TheirSelection::InlineFragment(fragment) => Selection::Inline {
            on: fragment.item.type_condition.map(|on| on.item),
            conditions: conditions!(fragment.item.directives),
            selections: selections(fragment.item.selection_set),
        },
    });
    ours.collect()
}
