//! Prints the schema in the
//! [schema definition language](https://spec.graphql.org/September2025/#sec-Type-System).
//!
//! The text is sorted by name and formatted like graphql-js's printer, so it changes only with the
//! schema. juniper's own printer panics on types and values that it does not support.

use indexmap::IndexMap;
use juniper::ArcStr;
use juniper::meta::DeprecationStatus;

use super::text::{described, quoted};
use super::{
    DirectiveDefinition, EnumValue, Field, Fields, InputField, InputObject, Schema, Type, TypeId, TypeKind,
};

/// Directives that every schema has.
const BUILT_IN: [&str; 5] = ["deprecated", "include", "oneOf", "skip", "specifiedBy"];

impl Schema {
    /// Prints the definitions that are not built in.
    pub(crate) fn sdl(&self) -> String {
        let types = self.types().filter(|(_, ty)| !ty.is_builtin());
        let types = types.map(|(_, ty)| definition(self, ty));
        let directives = self.directives.iter();
        let directives = directives.filter(|directive| !BUILT_IN.contains(&directive.name.as_str()));
        let directives = directives.map(|directive| directive_definition(self, directive));
        let definitions = std::iter::once(roots(self)).chain(directives).chain(types);
        let definitions: Vec<String> = definitions.filter(|text| !text.is_empty()).collect();
        definitions.join("\n")
    }
}

/// Prints the `schema` definition. Empty if every root type has its default name.
fn roots(schema: &Schema) -> String {
    let roots = [
        ("query", "Query", Some(schema.query)),
        ("mutation", "Mutation", schema.mutation),
        ("subscription", "Subscription", schema.subscription),
    ];
    let named = roots.into_iter().filter_map(|(kind, usual, id)| {
        let name = schema.type_at(id?).name.as_str();
        Some((kind, name, name == usual))
    });
    let named: Vec<_> = named.collect();
    if named.iter().all(|(_, _, usual)| *usual) {
        return String::new();
    }
    let lines = named.iter().map(|(kind, name, _)| format!("  {kind}: {name}\n"));
    format!("schema {{\n{}}}\n", lines.collect::<String>())
}

fn definition(schema: &Schema, ty: &Type) -> String {
    let mut text = String::new();
    described(ty.description.as_ref(), "", true, &mut text);
    let name = &ty.name;
    match &ty.kind {
        TypeKind::Scalar(scalar) => {
            text.push_str(&format!("scalar {name}"));
            if let Some(url) = &scalar.specified_by {
                text.push_str(&format!(" @specifiedBy(url: {})", quoted(url)));
            }
        }
        TypeKind::Object(declared) => composite(schema, "type", name, declared, &mut text),
        TypeKind::Interface(declared) => composite(schema, "interface", name, declared, &mut text),
        TypeKind::Union => {
            let members = list(schema, " = ", &ty.possible, " | ");
            text.push_str(&format!("union {name}{members}"));
        }
        TypeKind::Enum(enumeration) => {
            text.push_str(&format!("enum {name}"));
            values(&enumeration.values, &mut text);
        }
        TypeKind::InputObject(object) => input(schema, name, object, &mut text),
    }
    text.push('\n');
    text
}

fn directive_definition(schema: &Schema, directive: &DirectiveDefinition) -> String {
    let mut text = String::new();
    described(directive.description.as_ref(), "", true, &mut text);
    text.push_str(&format!("directive @{}", directive.name));
    arguments(schema, &directive.arguments, "", &mut text);
    if directive.is_repeatable {
        text.push_str(" repeatable");
    }
    let mut locations: Vec<&str> = directive.locations.iter().map(String::as_str).collect();
    locations.sort_unstable();
    text.push_str(&format!(" on {}\n", locations.join(" | ")));
    text
}

fn composite(schema: &Schema, keyword: &str, name: &str, declared: &Fields, text: &mut String) {
    let interfaces = list(schema, " implements ", &declared.interfaces, " & ");
    text.push_str(&format!("{keyword} {name}{interfaces}"));
    fields(schema, declared.fields.values(), text);
}

/// `before` and the sorted names, separated by `between`. Empty without names.
fn list(schema: &Schema, before: &str, ids: &[TypeId], between: &str) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let mut names: Vec<&str> = ids.iter().map(|id| schema.type_at(*id).name.as_str()).collect();
    names.sort_unstable();
    format!("{before}{}", names.join(between))
}

/// `all` sorted by name.
fn sorted<'s, T>(all: impl Iterator<Item = &'s T>, name: impl Fn(&T) -> &str) -> Vec<&'s T> {
    let mut all: Vec<_> = all.collect();
    all.sort_by(|one, other| name(one).cmp(name(other)));
    all
}

fn fields<'s>(schema: &Schema, all: impl Iterator<Item = &'s Field>, text: &mut String) {
    let all = sorted(all, |field| &field.name);
    block(&all, text, |field, first, text| {
        described(field.description.as_ref(), "  ", first, text);
        text.push_str(&format!("  {}", field.name));
        arguments(schema, &field.arguments, "  ", text);
        text.push_str(&format!(": {}", schema.print(field.ty)));
        deprecated(&field.deprecation, text);
    });
}

fn values(all: &IndexMap<ArcStr, EnumValue>, text: &mut String) {
    let mut all: Vec<_> = all.iter().collect();
    all.sort_by_key(|(name, _)| name.as_str());
    let all: Vec<_> = all.iter().collect();
    block(&all, text, |(name, value), first, text| {
        described(value.description.as_ref(), "  ", first, text);
        text.push_str(&format!("  {name}"));
        deprecated(&value.deprecation, text);
    });
}

fn input(schema: &Schema, name: &str, object: &InputObject, text: &mut String) {
    text.push_str(&format!("input {name}"));
    if object.is_one_of {
        text.push_str(" @oneOf");
    }
    let fields = sorted(object.fields.values(), |field| &field.name);
    block(&fields, text, |field, first, text| {
        described(field.description.as_ref(), "  ", first, text);
        text.push_str("  ");
        argument(schema, field, text);
    });
}

fn block<T>(all: &[&T], text: &mut String, write: impl Fn(&T, bool, &mut String)) {
    if all.is_empty() {
        return;
    }
    text.push_str(" {\n");
    for (at, one) in all.iter().enumerate() {
        write(one, at == 0, text);
        text.push('\n');
    }
    text.push('}');
}

/// Writes the arguments on one line, or one per line if an argument has a description.
fn arguments(schema: &Schema, all: &[InputField], indent: &str, text: &mut String) {
    let all = sorted(all.iter(), |argument| &argument.name);
    if all.is_empty() {
        return;
    }
    let lines = all.iter().any(|argument| argument.description.is_some());
    text.push_str(if lines { "(\n" } else { "(" });
    for (at, one) in all.iter().enumerate() {
        match (lines, at) {
            (true, _) => {
                let indent = format!("{indent}  ");
                described(one.description.as_ref(), &indent, at == 0, text);
                text.push_str(&indent);
            }
            (false, 0) => {}
            (false, _) => text.push_str(", "),
        }
        argument(schema, one, text);
        if lines {
            text.push('\n');
        }
    }
    text.push_str(if lines { indent } else { "" });
    text.push(')');
}

fn argument(schema: &Schema, argument: &InputField, text: &mut String) {
    let ty = schema.print(argument.ty);
    text.push_str(&format!("{}: {ty}", argument.name));
    if let Some(default) = &argument.default {
        text.push_str(&format!(" = {}", default.text));
    }
    deprecated(&argument.deprecation, text);
}

fn deprecated(status: &DeprecationStatus, text: &mut String) {
    match status {
        DeprecationStatus::Current => {}
        DeprecationStatus::Deprecated(Some(reason)) if reason != "No longer supported" => {
            text.push_str(&format!(" @deprecated(reason: {})", quoted(reason)));
        }
        DeprecationStatus::Deprecated(_) => text.push_str(" @deprecated"),
    }
}
