//! Rules for interfaces and unions, checked when an engine is built.
//!
//! See [objects](https://spec.graphql.org/September2025/#sec-Objects.Type-Validation) and
//! [`IsValidImplementation`](https://spec.graphql.org/September2025/#IsValidImplementation()).

use juniper::meta::{Argument, Field, MetaType};
use juniper::{ArcStr, DefaultScalarValue, SchemaType};

use super::ConfigMistake;
use crate::compat::TypeRef;
use crate::executor::{Registry, TypeInfo};

type Schema = SchemaType<DefaultScalarValue>;

/// Types of `schema` that violate a rule, sorted by name.
pub(super) fn invalid_types(registry: &Registry, schema: &Schema) -> Vec<ConfigMistake> {
    let mut invalid = Vec::new();
    for info in registry.types() {
        let mistakes = lists(registry, info);
        invalid.extend(mistakes.into_iter().map(|why| (info.name.to_owned(), why)));
    }
    for ty in schema.concrete_type_list().into_iter().filter_map(Declared::of) {
        let mut mistakes = ty.deprecated();
        let interfaces = ty
            .interfaces
            .iter()
            .filter_map(|name| Declared::named(schema, name));
        mistakes.extend(interfaces.flat_map(|interface| ty.violations(schema, &interface)));
        invalid.extend(mistakes.into_iter().map(|why| (ty.name.to_string(), why)));
    }
    invalid.sort();
    let mistakes = invalid.into_iter();
    mistakes
        .map(|(name, why)| ConfigMistake::InvalidType { name, why })
        .collect()
}

/// Mistakes in the members and interfaces that `info` lists.
fn lists(registry: &Registry, info: &TypeInfo) -> Vec<String> {
    let mut mistakes = Vec::new();
    let is_interface = !info.fields.is_empty();
    for member in info.members {
        let name = member.name().unwrap_or_default();
        let implements = |member: &TypeInfo| {
            member
                .interfaces
                .iter()
                .any(|ty| ty.name().as_deref() == Some(info.name))
        };
        match registry.get(&name) {
            Some(member) if is_interface && !implements(member) => {
                mistakes.push(format!("`for` lists `{name}`, which does not list it in `impl`"));
            }
            Some(member) if is_interface || member.members.is_empty() => {}
            _ => mistakes.push(format!("the member `{name}` is not an object type")),
        }
    }
    for interface in info.interfaces {
        let name = interface.name().unwrap_or_default();
        let lists = |interface: &TypeInfo| {
            interface
                .members
                .iter()
                .any(|ty| ty.name().as_deref() == Some(info.name))
        };
        if registry.get(&name).is_some_and(|interface| !lists(interface)) {
            mistakes.push(format!("`impl` lists `{name}`, which does not list it in `for`"));
        }
    }
    mistakes
}

/// Object type or interface in the schema.
struct Declared<'s> {
    name: &'s ArcStr,
    fields: &'s [Field<DefaultScalarValue>],
    interfaces: &'s [ArcStr],
}

impl<'s> Declared<'s> {
    fn of(ty: &'s MetaType<DefaultScalarValue>) -> Option<Self> {
        let (name, fields, interfaces) = match ty {
            MetaType::Object(ty) => (&ty.name, &ty.fields, &ty.interface_names),
            MetaType::Interface(ty) => (&ty.name, &ty.fields, &ty.interface_names),
            _ => return None,
        };
        Some(Self {
            name,
            fields,
            interfaces,
        })
    }

    fn named(schema: &'s Schema, name: &str) -> Option<Self> {
        schema.concrete_type_by_name(name).and_then(Self::of)
    }

    /// Required arguments that are deprecated.
    fn deprecated(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for field in self.fields {
            for argument in field.arguments.iter().flatten() {
                if argument.deprecation_status.is_deprecated() && is_required(argument) {
                    let (argument, field) = (&argument.name, &field.name);
                    mistakes.push(format!(
                        "the required argument `{argument}` of `{field}` is deprecated"
                    ));
                }
            }
        }
        mistakes
    }

    /// Differences from `interface`, which the type implements.
    fn violations(&self, schema: &Schema, interface: &Declared<'_>) -> Vec<String> {
        let of = interface.name;
        let missing = interface
            .interfaces
            .iter()
            .filter(|name| !self.interfaces.contains(name));
        let missing = missing.map(|name| format!("`impl` lacks `{name}`, an interface of `{of}`"));
        let mut mistakes: Vec<_> = missing.collect();
        for expected in interface.fields.iter().filter(|field| !field.is_builtin()) {
            let name = &expected.name;
            let Some(field) = self.fields.iter().find(|field| field.name == *name) else {
                mistakes.push(format!("the field `{name}` of `{of}` is missing"));
                continue;
            };
            let (ty, wanted) = (
                TypeRef::new(&field.field_type),
                TypeRef::new(&expected.field_type),
            );
            if !is_subtype(schema, &ty, &wanted) {
                mistakes.push(format!(
                    "the field `{name}` has the type `{ty}`, not `{wanted}` as in `{of}`"
                ));
            }
            let arguments = different_arguments(field, expected);
            mistakes.extend(arguments.map(|why| format!("the field `{name}` differs from `{of}`: {why}")));
        }
        mistakes
    }
}

/// Differences between the arguments of a field and those of the interface.
fn different_arguments(
    field: &Field<DefaultScalarValue>,
    expected: &Field<DefaultScalarValue>,
) -> impl Iterator<Item = String> {
    let arguments = |field: &Field<DefaultScalarValue>| field.arguments.clone().unwrap_or_default();
    let (arguments, wanted) = (arguments(field), arguments(expected));
    let mut mistakes = Vec::new();
    for expected in &wanted {
        let name = &expected.name;
        match arguments.iter().find(|argument| argument.name == *name) {
            None => mistakes.push(format!("the argument `{name}` is missing")),
            Some(argument) if argument.arg_type != expected.arg_type => {
                let (ty, wanted) = (&argument.arg_type, &expected.arg_type);
                mistakes.push(format!(
                    "the argument `{name}` has the type `{ty}`, not `{wanted}`"
                ));
            }
            Some(_) => {}
        }
    }
    for argument in arguments.iter().filter(|argument| is_required(argument)) {
        let name = &argument.name;
        if wanted.iter().all(|expected| expected.name != *name) {
            mistakes.push(format!("the additional argument `{name}` is required"));
        }
    }
    mistakes.into_iter()
}

fn is_required(argument: &Argument<DefaultScalarValue>) -> bool {
    argument.default_value.is_none() && matches!(TypeRef::new(&argument.arg_type), TypeRef::NonNull(_))
}

/// Returns `true` if every value of `ty` is a value of `wanted`.
fn is_subtype(schema: &Schema, ty: &TypeRef, wanted: &TypeRef) -> bool {
    match (ty, wanted) {
        (TypeRef::NonNull(ty), TypeRef::NonNull(wanted)) | (TypeRef::List(ty), TypeRef::List(wanted)) => {
            is_subtype(schema, ty, wanted)
        }
        (TypeRef::NonNull(ty), wanted) => is_subtype(schema, ty, wanted),
        (TypeRef::Named(ty), TypeRef::Named(wanted)) => {
            let implements = |ty: Declared<'_>| ty.interfaces.iter().any(|name| **name == **wanted);
            schema.is_named_subtype(ty, wanted) || Declared::named(schema, ty).is_some_and(implements)
        }
        _ => false,
    }
}
