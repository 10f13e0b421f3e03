//! Rules for interfaces and unions, checked when an engine is built.
//!
//! See [objects](https://spec.graphql.org/September2025/#sec-Objects.Type-Validation) and
//! [`IsValidImplementation`](https://spec.graphql.org/September2025/#IsValidImplementation()).

use juniper::ArcStr;

use super::ConfigMistake;
use crate::executor::{Registry, TypeInfo};
use crate::schema::{Field, Fields, Schema, Type, TypeRef};
use crate::validate::Validation;

/// Types of `schema` that violate a rule, sorted by name.
pub(super) fn invalid_types(registry: &Registry, schema: &Schema) -> Vec<ConfigMistake> {
    let mut invalid = Vec::new();
    for info in registry.types() {
        let mistakes = lists(registry, info);
        invalid.extend(mistakes.into_iter().map(|why| (info.name.to_owned(), why)));
    }
    for ty in schema.types().filter_map(|(_, ty)| Declared::of(ty)) {
        let mut mistakes = ty.deprecated();
        let interfaces = ty.fields.interfaces.iter();
        let interfaces = interfaces.filter_map(|id| Declared::of(schema.type_at(*id)));
        mistakes.extend(interfaces.flat_map(|interface| ty.violations(schema, &interface)));
        invalid.extend(mistakes.into_iter().map(|why| (ty.name.to_string(), why)));
    }
    invalid.sort();
    let mistakes = invalid.into_iter();
    mistakes
        .map(|(name, why)| ConfigMistake::InvalidType { name, why })
        .collect()
}

/// Arguments whose input objects are not validated, if those of other arguments are.
pub(super) fn unvalidated(registry: &Registry) -> Vec<ConfigMistake> {
    let (mut missing, mut is_used) = (Vec::new(), false);
    for info in registry.types() {
        for field in info.fields {
            for (argument, validation) in field.args.iter().zip((field.validation)()) {
                is_used |= validation == Validation::Own;
                if validation == Validation::Missing {
                    missing.push(format!("{}.{}({argument})", info.name, field.name));
                }
            }
        }
    }
    missing.sort();
    let missing = missing.into_iter().filter(|_| is_used);
    missing.map(ConfigMistake::Unvalidated).collect()
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

/// Object type or interface.
struct Declared<'s> {
    name: &'s ArcStr,
    fields: &'s Fields,
}

impl<'s> Declared<'s> {
    fn of(ty: &'s Type) -> Option<Self> {
        let (name, fields) = (&ty.name, ty.fields()?);
        Some(Self { name, fields })
    }

    /// Required arguments that are deprecated.
    fn deprecated(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for field in self.fields.fields.values() {
            for argument in &field.arguments {
                if argument.deprecation.is_deprecated() && argument.is_required() {
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
        let missing = interface.fields.interfaces.iter();
        let missing = missing.filter(|inherited| !self.fields.interfaces.contains(inherited));
        let missing = missing.map(|inherited| {
            let name = &schema.type_at(*inherited).name;
            format!("`impl` lacks `{name}`, an interface of `{of}`")
        });
        let mut mistakes: Vec<_> = missing.collect();
        for (name, expected) in &interface.fields.fields {
            let Some(field) = self.fields.fields.get(name) else {
                mistakes.push(format!("the field `{name}` of `{of}` is missing"));
                continue;
            };
            if !is_subtype(schema, field.ty, expected.ty) {
                let (ty, wanted) = (schema.print(field.ty), schema.print(expected.ty));
                mistakes.push(format!(
                    "the field `{name}` has the type `{ty}`, not `{wanted}` as in `{of}`"
                ));
            }
            let arguments = different_arguments(schema, field, expected).into_iter();
            mistakes.extend(arguments.map(|why| format!("the field `{name}` differs from `{of}`: {why}")));
        }
        mistakes
    }
}

/// Differences between the arguments of a field and those of the interface.
fn different_arguments(schema: &Schema, field: &Field, expected: &Field) -> Vec<String> {
    let mut mistakes = Vec::new();
    for wanted in &expected.arguments {
        let name = &wanted.name;
        match field.argument(name) {
            None => mistakes.push(format!("the argument `{name}` is missing")),
            Some(argument) if argument.ty != wanted.ty => {
                let (ty, wanted) = (schema.print(argument.ty), schema.print(wanted.ty));
                mistakes.push(format!(
                    "the argument `{name}` has the type `{ty}`, not `{wanted}`"
                ));
            }
            Some(_) => {}
        }
    }
    for argument in field.arguments.iter().filter(|argument| argument.is_required()) {
        if expected.argument(&argument.name).is_none() {
            mistakes.push(format!("the additional argument `{}` is required", argument.name));
        }
    }
    mistakes
}

/// Returns `true` if every value of `ty` is a value of `wanted`.
fn is_subtype(schema: &Schema, ty: TypeRef, wanted: TypeRef) -> bool {
    let implements = || {
        let fields = schema.type_at(ty.named).fields();
        fields.is_some_and(|fields| fields.interfaces.contains(&wanted.named))
    };
    ty.wrappers.is_within(wanted.wrappers) && (schema.is_possible(ty.named, wanted.named) || implements())
}
