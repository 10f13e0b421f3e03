//! The only module that touches what juniper exports without documenting it.
//!
//! What is used here may move in any release of juniper 0.18. What comes out is [`Syntax`](syntax::Syntax): a validated
//! operation in types of our own. Each of these has a test in `tests` that fails when it behaves in another way:
//!
//! | juniper's | what is taken for granted |
//! |---|---|
//! | `parser::parse_document_source` | types literals by the schema, keeps its limits, tells which one was exceeded |
//! | `parser::SourcePosition`, `Span` | count characters, not bytes; an end is behind the last one |
//! | `Definition`, `Selection` and the fields of the tree, whose types cannot be named | every part of an operation |
//! | `Type::modifiers` | from the inside out |
//! | `validation::{ValidatorContext, visit_all_rules}`, `RuleError` | in the order of the document; overlapping fields last; five mistakes that `read`, `declared` and `defaulted` mend |
//! | the fields of `RootNode`, `introspect` | can be taken apart and put together; all of the schema |
//! | `meta::{Field, Argument, EnumMeta, InputObjectMeta, ObjectMeta}`, `MetaType`, `SchemaType` | what the schema says |
//! | `GraphQLSubscriptionValue::resolve_into_type_stream` | panics where [`Spreadable`] does not |

mod declared;
mod defaulted;
mod introspect;
mod read;
mod sdl;
mod spread;
pub(crate) mod syntax;

use std::collections::BTreeMap;

use juniper::meta::MetaType;
use juniper::parser::SourcePosition;
use juniper::{DefaultScalarValue, GraphQLType, RootNode};

pub(crate) use self::introspect::introspected;
pub(crate) use self::read::{again, operations, read, refused};
pub(crate) use self::sdl::sdl;
pub(crate) use self::spread::{Spreadable, spreadable};
pub(crate) use self::syntax::TypeRef;
use crate::response::Location;

type Scalar = DefaultScalarValue;

/// Disables introspection in `root`, because juniper's own switch reports no error code.
///
/// Returns `true` if it was enabled.
pub(crate) fn take_introspection<Q, M, S>(root: RootNode<Q, M, S>) -> (RootNode<Q, M, S>, bool)
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    let enabled = !root.introspection_disabled;
    (root.enable_introspection(), enabled)
}

/// Returns `true` if the schema has the field `Type.field`.
pub(crate) fn has_field<Q, M, S>(root: &RootNode<Q, M, S>, coordinate: &str) -> bool
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    coordinate.split_once('.').is_some_and(|(parent, field)| {
        let parent = root.schema.concrete_type_by_name(parent);
        parent.is_some_and(|parent| parent.field_by_name(field).is_some())
    })
}

/// Object types of each interface, by name.
pub(crate) fn implementers<Q, M, S>(root: &RootNode<Q, M, S>) -> BTreeMap<String, Vec<String>>
where
    Q: GraphQLType<Scalar>,
    M: GraphQLType<Scalar>,
    S: GraphQLType<Scalar>,
{
    let mut implementers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ty in root.schema.concrete_type_list() {
        if let MetaType::Object(object) = ty {
            for interface in &object.interface_names {
                let objects = implementers.entry(interface.to_string()).or_default();
                objects.push(object.name.to_string());
            }
        }
    }
    implementers
}

/// Converts a position to the 1-based location of a response.
pub(crate) fn location(position: &SourcePosition) -> Location {
    Location::new(position.line() + 1, position.column() + 1)
}

#[cfg(test)]
mod tests;
