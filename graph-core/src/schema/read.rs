//! Reads juniper's registry.

use std::collections::{BTreeMap, HashMap};

use juniper::meta::{Argument, DeprecationStatus, Field as FieldMeta, MetaType};
use juniper::{ArcStr, DefaultScalarValue, SchemaType, Type as JuniperType};

use super::{
    Builtin, Default, DirectiveDefinition, EnumValue, Enumeration, Field, Fields, InputField, InputObject,
    Parse, Scalar, Schema, Type, TypeId, TypeKind, TypeRef, Wrappers,
};

type Registry = SchemaType<DefaultScalarValue>;
type Meta = MetaType<DefaultScalarValue>;

impl Schema {
    /// Reads all types and directives of `registry`.
    pub(crate) fn new(registry: &Registry) -> Self {
        let metas = registry.concrete_type_list().into_iter();
        // juniper registers a type without fields for a root that the host lacks
        let is_absent = |name: &ArcStr| matches!(name.as_str(), "_EmptyMutation" | "_EmptySubscription");
        let metas = metas.filter(|meta| !meta.name().is_some_and(is_absent));
        let metas: BTreeMap<&str, &Meta> = metas
            .filter_map(|meta| Some((meta.name()?.as_str(), meta)))
            .collect();
        let by_name = metas.values().filter_map(|meta| meta.name().cloned());
        let by_name: HashMap<_, _> = by_name.zip((0..).map(TypeId)).collect();
        let reader = Reader { by_name: &by_name };
        let id_of = |meta: Option<&Meta>| meta.and_then(|meta| by_name.get(meta.name()?).copied());
        let types: Vec<_> = metas.values().filter_map(|meta| reader.ty(meta)).collect();
        let directives = registry.directive_list().into_iter();
        let schema = Self {
            query: id_of(Some(registry.concrete_query_type())).unwrap_or(TypeId(0)),
            mutation: id_of(registry.concrete_mutation_type()),
            subscription: id_of(registry.concrete_subscription_type()),
            directives: directives
                .map(|directive| DirectiveDefinition {
                    name: directive.name.clone(),
                    description: directive.description.clone(),
                    locations: directive.locations.iter().map(location).collect(),
                    arguments: reader.inputs(&directive.arguments),
                    is_repeatable: directive.is_repeatable,
                })
                .collect(),
            meta_fields: meta_fields(&by_name),
            types,
            by_name,
        };
        schema.completed(&metas)
    }

    /// Fills in what needs all types: possible types, and default values as text.
    fn completed(mut self, metas: &BTreeMap<&str, &Meta>) -> Self {
        let possible: Vec<_> = (0..)
            .map(TypeId)
            .zip(metas.values())
            .map(|(id, meta)| match meta {
                Meta::Union(union) => self.ids(&union.of_type_names),
                _ => self.objects(id),
            })
            .collect();
        for (ty, possible) in self.types.iter_mut().zip(possible) {
            ty.possible = possible;
        }
        self.directives.sort_by(|one, other| one.name.cmp(&other.name));
        self.with_default_texts()
    }

    fn ids(&self, names: &[ArcStr]) -> Vec<TypeId> {
        let mut ids: Vec<_> = names.iter().filter_map(|name| self.id(name)).collect();
        ids.sort_unstable();
        ids
    }

    /// An object type itself, or the object types that implement an interface.
    fn objects(&self, wanted: TypeId) -> Vec<TypeId> {
        let implements = |ty: &Type| {
            let interfaces = ty.fields().map_or(&[][..], |fields| &fields.interfaces);
            interfaces.contains(&wanted)
        };
        match &self.type_at(wanted).kind {
            TypeKind::Object(_) => vec![wanted],
            TypeKind::Interface(_) => {
                let objects = self.types().filter(|(_, ty)| ty.is_object() && implements(ty));
                objects.map(|(id, _)| id).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Prints the default values, now that the types of nested fields are known.
    pub(super) fn with_default_texts(mut self) -> Self {
        let mut texts = Vec::new();
        let text = |input: &InputField| {
            let mut text = String::new();
            if let Some(default) = &input.default {
                self.literal(input.ty, &default.value, &mut text);
            }
            text
        };
        self.each_input(|input| texts.push(text(input)));
        let mut texts = texts.into_iter();
        self.each_input_mut(|input| {
            if let (Some(default), Some(text)) = (&mut input.default, texts.next()) {
                default.text = text;
            }
        });
        self
    }

    /// Calls `visit` for each argument and input field that has a default.
    fn each_input<'s>(&'s self, mut visit: impl FnMut(&'s InputField)) {
        let of_types = self
            .types
            .iter()
            .flat_map(|ty| -> Box<dyn Iterator<Item = &InputField>> {
                match &ty.kind {
                    TypeKind::Object(fields) | TypeKind::Interface(fields) => {
                        Box::new(fields.fields.values().flat_map(|field| &field.arguments))
                    }
                    TypeKind::InputObject(object) => Box::new(object.fields.values()),
                    TypeKind::Scalar(_) | TypeKind::Union | TypeKind::Enum(_) => Box::new(std::iter::empty()),
                }
            });
        let of_directives = self.directives.iter().flat_map(|directive| &directive.arguments);
        let inputs = of_types.chain(of_directives);
        inputs
            .filter(|input| input.default.is_some())
            .for_each(&mut visit);
    }

    /// Like `each_input`, in the same order.
    fn each_input_mut(&mut self, mut visit: impl FnMut(&mut InputField)) {
        let of_types = self
            .types
            .iter_mut()
            .flat_map(|ty| -> Box<dyn Iterator<Item = &mut InputField>> {
                match &mut ty.kind {
                    TypeKind::Object(fields) | TypeKind::Interface(fields) => {
                        Box::new(fields.fields.values_mut().flat_map(|field| &mut field.arguments))
                    }
                    TypeKind::InputObject(object) => Box::new(object.fields.values_mut()),
                    TypeKind::Scalar(_) | TypeKind::Union | TypeKind::Enum(_) => Box::new(std::iter::empty()),
                }
            });
        let of_directives = self
            .directives
            .iter_mut()
            .flat_map(|directive| &mut directive.arguments);
        let inputs = of_types.chain(of_directives);
        inputs
            .filter(|input| input.default.is_some())
            .for_each(&mut visit);
    }
}

struct Reader<'r> {
    by_name: &'r HashMap<ArcStr, TypeId>,
}

impl Reader<'_> {
    fn ty(&self, meta: &Meta) -> Option<Type> {
        let parse = meta.input_value_parse_fn().map(Parse);
        let kind = match meta {
            Meta::Scalar(scalar) => TypeKind::Scalar(Scalar {
                builtin: Builtin::named(&scalar.name),
                specified_by: scalar.specified_by_url.clone(),
                parse,
            }),
            Meta::Object(object) => TypeKind::Object(self.fields(&object.fields, &object.interface_names)),
            Meta::Interface(interface) => {
                TypeKind::Interface(self.fields(&interface.fields, &interface.interface_names))
            }
            Meta::Union(_) => TypeKind::Union,
            Meta::Enum(enumeration) => {
                let values = enumeration.values.iter().map(|value| {
                    let known = EnumValue {
                        description: value.description.clone(),
                        deprecation: value.deprecation_status.clone(),
                    };
                    (value.name.clone(), known)
                });
                TypeKind::Enum(Enumeration {
                    values: values.collect(),
                    parse,
                })
            }
            Meta::InputObject(object) => {
                let fields = self.inputs(&object.input_fields).into_iter();
                TypeKind::InputObject(InputObject {
                    fields: fields.map(|field| (field.name.clone(), field)).collect(),
                    is_one_of: object.is_one_of,
                    parse,
                })
            }
            Meta::List(_) | Meta::Nullable(_) | Meta::Placeholder(_) => return None,
        };
        Some(Type {
            name: meta.name()?.clone(),
            description: meta.description().cloned(),
            kind,
            possible: Vec::new(),
        })
    }

    fn fields(&self, fields: &[FieldMeta<DefaultScalarValue>], interfaces: &[ArcStr]) -> Fields {
        let declared = fields.iter().filter(|field| !field.is_builtin());
        let declared = declared.map(|field| {
            let read = Field {
                name: field.name.clone(),
                description: field.description.clone(),
                arguments: self.inputs(field.arguments.as_deref().unwrap_or_default()),
                ty: self.type_ref(&field.field_type),
                deprecation: field.deprecation_status.clone(),
            };
            (field.name.clone(), read)
        });
        let interfaces = interfaces.iter().filter_map(|name| self.by_name.get(name));
        Fields {
            fields: declared.collect(),
            interfaces: interfaces.copied().collect(),
        }
    }

    fn inputs(&self, arguments: &[Argument<DefaultScalarValue>]) -> Vec<InputField> {
        let inputs = arguments.iter().map(|argument| InputField {
            name: argument.name.clone(),
            description: argument.description.clone(),
            ty: self.type_ref(&argument.arg_type),
            default: argument.default_value.clone().map(|value| Default {
                value,
                text: String::new(),
            }),
            deprecation: argument.deprecation_status.clone(),
        });
        inputs.collect()
    }

    fn type_ref(&self, ty: &JuniperType<impl AsRef<str>>) -> TypeRef {
        // a modifier can be compared but not named outside juniper
        let sample: JuniperType = JuniperType::nullable("").wrap_non_null();
        let wrap = |inner: Wrappers, modifier| {
            if Some(modifier) == sample.modifier() {
                inner.non_null()
            } else {
                // more lists than fit cannot be written in Rust either
                inner.in_list().unwrap_or(inner)
            }
        };
        let named = self.by_name.get(ty.innermost_name()).copied();
        TypeRef {
            // juniper registers the type of each field and argument
            named: named.unwrap_or(TypeId(0)),
            wrappers: ty.modifiers().iter().fold(Wrappers::NONE, wrap),
        }
    }
}

/// `FIELD_DEFINITION` for "field definition", as juniper prints the location.
fn location(location: &impl ToString) -> String {
    location.to_string().to_ascii_uppercase().replace(' ', "_")
}

impl Builtin {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "Int" => Some(Self::Int),
            "Float" => Some(Self::Float),
            "String" => Some(Self::String),
            "Boolean" => Some(Self::Boolean),
            "ID" => Some(Self::Id),
            _ => None,
        }
    }
}

/// `__schema`, `__type` and `__typename`.
pub(super) fn meta_fields(by_name: &HashMap<ArcStr, TypeId>) -> [Field; 3] {
    let ty = |name: &str, is_non_null| {
        let wrappers = Wrappers::NONE;
        TypeRef {
            named: by_name.get(name).copied().unwrap_or(TypeId(0)),
            wrappers: if is_non_null {
                wrappers.non_null()
            } else {
                wrappers
            },
        }
    };
    let field = |name: &str, ty, arguments| Field {
        name: name.into(),
        description: None,
        arguments,
        ty,
        deprecation: DeprecationStatus::Current,
    };
    let name = InputField {
        name: "name".into(),
        description: None,
        ty: ty("String", true),
        default: None,
        deprecation: DeprecationStatus::Current,
    };
    [
        field("__schema", ty("__Schema", true), Vec::new()),
        field("__type", ty("__Type", false), vec![name]),
        field("__typename", ty("String", true), Vec::new()),
    ]
}
