//! Complete result of
//! [introspection](https://spec.graphql.org/September2025/#sec-Schema-Introspection).

use juniper::ArcStr;
use juniper::meta::DeprecationStatus;
use serde_json::{Value, json};

use super::{Field, InputField, Schema, Type, TypeId, TypeKind, TypeRef, Wrapper, Wrappers};

impl Schema {
    /// Value of `__schema` with all fields. A type inside another one has its kind and name only.
    pub(crate) fn introspected(&self) -> Value {
        let root = |id: Option<TypeId>| id.map_or(Value::Null, |id| self.named(id));
        json!({
            "description": null,
            "queryType": root(Some(self.query)),
            "mutationType": root(self.mutation),
            "subscriptionType": root(self.subscription),
            "types": self.types().map(|(_, ty)| self.full(ty)).collect::<Vec<_>>(),
            "directives": self.directives.iter().map(|directive| json!({
                "name": directive.name.as_str(),
                "description": text(directive.description.as_ref()),
                "isRepeatable": directive.is_repeatable,
                "locations": directive.locations,
                "args": self.inputs(&directive.arguments),
            })).collect::<Vec<_>>(),
        })
    }

    fn full(&self, ty: &Type) -> Value {
        let (mut fields, mut interfaces, mut inputs, mut values) = (None, None, None, None);
        let (mut specified_by, mut is_one_of) = (None, None);
        match &ty.kind {
            TypeKind::Scalar(scalar) => specified_by = scalar.specified_by.as_ref(),
            TypeKind::Object(declared) | TypeKind::Interface(declared) => {
                fields = Some(declared.fields.values().map(|field| self.field(field)).collect());
                interfaces = Some(self.names(&declared.interfaces));
            }
            TypeKind::Union => {}
            TypeKind::Enum(enumeration) => {
                let all = enumeration.values.iter().map(|(name, value)| {
                    let deprecation = deprecation(&value.deprecation);
                    json!({
                        "name": name.as_str(),
                        "description": text(value.description.as_ref()),
                        "isDeprecated": deprecation.0,
                        "deprecationReason": deprecation.1,
                    })
                });
                values = Some(all.collect::<Value>());
            }
            TypeKind::InputObject(object) => {
                inputs = Some(self.inputs(object.fields.values()));
                is_one_of = Some(object.is_one_of);
            }
        }
        json!({
            "kind": kind(ty),
            "name": ty.name.as_str(),
            "description": text(ty.description.as_ref()),
            "specifiedByURL": text(specified_by),
            "isOneOf": is_one_of,
            "fields": fields.unwrap_or(Value::Null),
            "inputFields": inputs,
            "interfaces": interfaces,
            "enumValues": values,
            "possibleTypes": ty.is_abstract().then(|| self.names(&ty.possible)),
            "ofType": null,
        })
    }

    fn field(&self, field: &Field) -> Value {
        let deprecation = deprecation(&field.deprecation);
        json!({
            "name": field.name.as_str(),
            "description": text(field.description.as_ref()),
            "args": self.inputs(&field.arguments),
            "type": self.reference(field.ty),
            "isDeprecated": deprecation.0,
            "deprecationReason": deprecation.1,
        })
    }

    fn inputs<'s>(&self, inputs: impl IntoIterator<Item = &'s InputField>) -> Value {
        let inputs = inputs.into_iter().map(|input| {
            let deprecation = deprecation(&input.deprecation);
            json!({
                "name": input.name.as_str(),
                "description": text(input.description.as_ref()),
                "type": self.reference(input.ty),
                "defaultValue": input.default.as_ref().map(|default| default.text.as_str()),
                "isDeprecated": deprecation.0,
                "deprecationReason": deprecation.1,
            })
        });
        inputs.collect()
    }

    fn names(&self, ids: &[TypeId]) -> Value {
        ids.iter().map(|id| self.named(*id)).collect()
    }

    fn named(&self, id: TypeId) -> Value {
        let ty = self.type_at(id);
        json!({ "kind": kind(ty), "name": ty.name.as_str(), "ofType": null })
    }

    fn reference(&self, ty: TypeRef) -> Value {
        self.wrapped(ty.named, ty.wrappers)
    }

    fn wrapped(&self, named: TypeId, wrappers: Wrappers) -> Value {
        let (wrapper, inner) = match wrappers.split() {
            None => return self.named(named),
            Some((Wrapper::List, inner)) => ("LIST", inner),
            Some((Wrapper::NonNull, inner)) => ("NON_NULL", inner),
        };
        json!({ "kind": wrapper, "name": null, "ofType": self.wrapped(named, inner) })
    }
}

fn kind(ty: &Type) -> &'static str {
    match ty.kind {
        TypeKind::Scalar(_) => "SCALAR",
        TypeKind::Object(_) => "OBJECT",
        TypeKind::Interface(_) => "INTERFACE",
        TypeKind::Union => "UNION",
        TypeKind::Enum(_) => "ENUM",
        TypeKind::InputObject(_) => "INPUT_OBJECT",
    }
}

fn text(text: Option<&ArcStr>) -> Value {
    text.map_or(Value::Null, |text| text.as_str().into())
}

/// `isDeprecated` and `deprecationReason`.
fn deprecation(status: &DeprecationStatus) -> (bool, Value) {
    (status.is_deprecated(), text(status.reason()))
}
