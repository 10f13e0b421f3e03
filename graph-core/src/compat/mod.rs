//! The only module that uses undocumented exports of juniper.
//!
//! Any 0.18 release of juniper may change these items. The module converts them to
//! [`Syntax`](syntax::Syntax), a validated operation in our own types. Each of these assumptions
//! has a test in `tests` that fails when juniper changes:
//!
//! - `parser::parse_document_source` types literals by the schema, enforces its limits, and reports
//!   which limit was exceeded.
//! - `parser::SourcePosition` and `Span` count characters, not bytes. The end is exclusive.
//! - `Definition`, `Selection` and the fields of the tree, whose types cannot be named, contain
//!   every part of an operation.
//! - `Type::modifiers` lists the innermost modifier first.
//! - `validation::{ValidatorContext, visit_all_rules}` and `RuleError` report errors in document
//!   order. The rule for overlapping fields runs last. `read`, `declared` and `defaulted` correct
//!   five deviations of the rules from the specification.
//! - The fields of `RootNode` can be moved out and reassembled.
//! - `introspect` returns the complete introspection result.
//! - `meta::{Field, Argument, EnumMeta, InputObjectMeta, ObjectMeta}`, `MetaType` and `SchemaType`
//!   contain the metadata of the schema.

mod declared;
mod defaulted;
mod introspect;
mod read;
mod sdl;
pub(crate) mod syntax;

use std::collections::BTreeMap;

use juniper::meta::MetaType;
use juniper::parser::SourcePosition;
use juniper::{DefaultScalarValue, GraphQLType, RootNode};

pub(crate) use self::introspect::introspected;
pub(crate) use self::read::{again, operations, read};
pub(crate) use self::sdl::sdl;
pub(crate) use self::syntax::TypeRef;
use crate::response::Location;

type Scalar = DefaultScalarValue;

/// Enables introspection in `root`, and returns `true` if the host had it enabled.
///
/// The engine itself refuses introspection, because juniper's own switch reports no error code.
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
