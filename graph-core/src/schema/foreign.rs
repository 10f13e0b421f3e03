//! Schemas of another engine, read from its introspection result.

use std::collections::HashMap;

use juniper::ArcStr;
use juniper::meta::DeprecationStatus;
use serde_json::Value;

use super::read::meta_fields;
use super::{
    Builtin, Default, DirectiveDefinition, EnumValue, Enumeration, Field, Fields, InputField, InputObject,
    Scalar, Schema, Type, TypeId, TypeKind, TypeRef, Wrappers,
};
use crate::document::parse::parse_value;
use crate::document::validate::untyped;

impl Schema {
    /// Reads the value of `__schema` of a complete introspection query.
    pub(crate) fn foreign(schema: &Value) -> Self {
        let mut all: Vec<&Value> = list(schema, "types").collect();
        all.sort_by_key(|ty| text(ty, "name"));
        let names = all.iter().map(|ty| ArcStr::from(text(ty, "name")));
        let by_name: HashMap<_, _> = names.zip((0..).map(TypeId)).collect();
        let reader = Reader { by_name: &by_name };
        let root = |key: &str| by_name.get(text(&schema[key], "name")).copied();
        let directives = list(schema, "directives").map(|directive| DirectiveDefinition {
            name: text(directive, "name").into(),
            description: None,
            locations: list(directive, "locations")
                .map(|location| location.as_str().unwrap().to_owned())
                .collect(),
            arguments: reader.inputs(directive, "args"),
            is_repeatable: directive["isRepeatable"] == true,
        });
        Self {
            types: all.iter().map(|ty| reader.ty(ty)).collect(),
            query: root("queryType").unwrap(),
            mutation: root("mutationType"),
            subscription: root("subscriptionType"),
            directives: directives.collect(),
            meta_fields: meta_fields(&by_name),
            by_name,
        }
    }
}

struct Reader<'r> {
    by_name: &'r HashMap<ArcStr, TypeId>,
}

impl Reader<'_> {
    fn ty(&self, ty: &Value) -> Type {
        let name = text(ty, "name");
        let fields = || Fields {
            fields: list(ty, "fields")
                .map(|field| (text(field, "name").into(), self.field(field)))
                .collect(),
            interfaces: self.ids(ty, "interfaces"),
        };
        let kind = match text(ty, "kind") {
            "SCALAR" => TypeKind::Scalar(Scalar {
                builtin: Builtin::named(name),
                specified_by: None,
                parse: None,
            }),
            "OBJECT" => TypeKind::Object(fields()),
            "INTERFACE" => TypeKind::Interface(fields()),
            "UNION" => TypeKind::Union,
            "ENUM" => TypeKind::Enum(Enumeration {
                values: list(ty, "enumValues")
                    .map(|value| (text(value, "name").into(), enum_value()))
                    .collect(),
                parse: None,
            }),
            _ => {
                let fields = self.inputs(ty, "inputFields").into_iter();
                TypeKind::InputObject(InputObject {
                    fields: fields.map(|field| (field.name.clone(), field)).collect(),
                    is_one_of: ty["isOneOf"] == true,
                    parse: None,
                })
            }
        };
        let mut possible = self.ids(ty, "possibleTypes");
        if matches!(kind, TypeKind::Object(_)) {
            possible = self.by_name.get(name).copied().into_iter().collect();
        }
        possible.sort_unstable();
        Type {
            name: name.into(),
            description: None,
            kind,
            possible,
        }
    }

    fn ids(&self, of: &Value, key: &str) -> Vec<TypeId> {
        list(of, key)
            .filter_map(|ty| self.by_name.get(text(ty, "name")).copied())
            .collect()
    }

    fn field(&self, field: &Value) -> Field {
        Field {
            name: text(field, "name").into(),
            description: None,
            arguments: self.inputs(field, "args"),
            ty: self.type_ref(&field["type"]),
            deprecation: DeprecationStatus::Current,
        }
    }

    fn inputs(&self, of: &Value, key: &str) -> Vec<InputField> {
        let inputs = list(of, key).map(|input| InputField {
            name: text(input, "name").into(),
            description: None,
            ty: self.type_ref(&input["type"]),
            default: input["defaultValue"].as_str().map(|text| {
                let (ast, value) = parse_value(text).unwrap();
                Default {
                    value: untyped(&ast, &value),
                    text: text.to_owned(),
                }
            }),
            deprecation: DeprecationStatus::Current,
        });
        inputs.collect()
    }

    fn type_ref(&self, ty: &Value) -> TypeRef {
        match text(ty, "kind") {
            "NON_NULL" => {
                let inner = self.type_ref(&ty["ofType"]);
                let wrappers = inner.wrappers.non_null();
                TypeRef { wrappers, ..inner }
            }
            "LIST" => {
                let inner = self.type_ref(&ty["ofType"]);
                let wrappers = inner.wrappers.in_list().unwrap();
                TypeRef { wrappers, ..inner }
            }
            _ => TypeRef {
                named: self.by_name[text(ty, "name")],
                wrappers: Wrappers::NONE,
            },
        }
    }
}

fn enum_value() -> EnumValue {
    EnumValue {
        description: None,
        deprecation: DeprecationStatus::Current,
    }
}

fn list<'v>(of: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    of[key].as_array().into_iter().flatten()
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of[key].as_str().unwrap_or_default()
}
