//! Schema of an engine, built once from juniper's registry and read by every later stage.
//!
//! - `type_ref`: wrappers of types · `read`: juniper's registry · `default`: default values
//! - `introspection`: the result of introspection · `sdl`, `text`: the schema as text

mod default;
#[cfg(test)]
pub(crate) mod foreign;
mod introspection;
mod read;
mod sdl;
mod text;
mod type_ref;

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;
use juniper::meta::{DeprecationStatus, InputValueParseFn};
use juniper::{ArcStr, DefaultScalarValue, InputValue, OperationType};

pub(crate) use self::default::Default;
pub(crate) use self::text::{block_string, quote};
pub(crate) use self::type_ref::{TypeId, TypeRef, Wrapper, Wrappers};

#[derive(Debug)]
pub(crate) struct Schema {
    types: Vec<Type>,
    by_name: HashMap<ArcStr, TypeId>,
    query: TypeId,
    mutation: Option<TypeId>,
    subscription: Option<TypeId>,
    pub(crate) directives: Vec<DirectiveDefinition>,
    /// `__schema`, `__type` and `__typename`.
    meta_fields: [Field; 3],
}

#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) kind: TypeKind,
    /// Object types that a value of this type can have, sorted. Empty for types that are not
    /// composite.
    pub(crate) possible: Vec<TypeId>,
}

#[derive(Debug)]
pub(crate) enum TypeKind {
    Scalar(Scalar),
    Object(Fields),
    Interface(Fields),
    Union,
    Enum(Enumeration),
    InputObject(InputObject),
}

#[derive(Debug)]
pub(crate) struct Scalar {
    /// One of the five scalars of the specification.
    pub(crate) builtin: Option<Builtin>,
    pub(crate) specified_by: Option<ArcStr>,
    pub(crate) parse: Option<Parse>,
}

/// Parser of a host's input type, which returns the reason of a refusal.
#[derive(Clone, Copy)]
pub(crate) struct Parse(pub(crate) InputValueParseFn<DefaultScalarValue>);

impl std::fmt::Debug for Parse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Parse")
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Builtin {
    Int,
    Float,
    String,
    Boolean,
    Id,
}

/// Fields and interfaces of an object or interface type.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) fields: IndexMap<ArcStr, Field>,
    pub(crate) interfaces: Vec<TypeId>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) arguments: Vec<InputField>,
    pub(crate) ty: TypeRef,
    pub(crate) deprecation: DeprecationStatus,
}

impl Field {
    pub(crate) fn argument(&self, name: &str) -> Option<&InputField> {
        self.arguments.iter().find(|argument| argument.name == *name)
    }
}

/// Argument of a field or directive, or field of an input object type.
#[derive(Debug)]
pub(crate) struct InputField {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) ty: TypeRef,
    pub(crate) default: Option<Default>,
    pub(crate) deprecation: DeprecationStatus,
}

impl InputField {
    pub(crate) fn is_required(&self) -> bool {
        self.ty.is_non_null() && self.default.is_none()
    }
}

#[derive(Debug)]
pub(crate) struct Enumeration {
    pub(crate) values: IndexMap<ArcStr, EnumValue>,
    pub(crate) parse: Option<Parse>,
}

#[derive(Debug)]
pub(crate) struct EnumValue {
    pub(crate) description: Option<ArcStr>,
    pub(crate) deprecation: DeprecationStatus,
}

#[derive(Debug)]
pub(crate) struct InputObject {
    pub(crate) fields: IndexMap<ArcStr, InputField>,
    pub(crate) is_one_of: bool,
    pub(crate) parse: Option<Parse>,
}

#[derive(Debug)]
pub(crate) struct DirectiveDefinition {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    /// Names of the locations, for example `FIELD_DEFINITION`.
    pub(crate) locations: Vec<String>,
    pub(crate) arguments: Vec<InputField>,
    pub(crate) is_repeatable: bool,
}

impl Type {
    pub(crate) fn is_composite(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Object(_) | TypeKind::Interface(_) | TypeKind::Union
        )
    }

    pub(crate) fn is_abstract(&self) -> bool {
        matches!(self.kind, TypeKind::Interface(_) | TypeKind::Union)
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, TypeKind::Object(_))
    }

    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.kind, TypeKind::Scalar(_) | TypeKind::Enum(_))
    }

    pub(crate) fn is_input(&self) -> bool {
        self.is_leaf() || matches!(self.kind, TypeKind::InputObject(_))
    }

    /// Returns `true` for a type of introspection or a scalar of the specification.
    pub(crate) fn is_builtin(&self) -> bool {
        self.name.starts_with("__")
            || matches!(&self.kind, TypeKind::Scalar(scalar) if scalar.builtin.is_some())
    }

    pub(crate) fn fields(&self) -> Option<&Fields> {
        match &self.kind {
            TypeKind::Object(fields) | TypeKind::Interface(fields) => Some(fields),
            _ => None,
        }
    }

    /// Declared field `name`, without `__typename`.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields()?.fields.get(name)
    }
}

impl Schema {
    #[expect(clippy::indexing_slicing, reason = "every id is an index of its schema")]
    pub(crate) fn type_at(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    pub(crate) fn id(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn type_named(&self, name: &str) -> Option<&Type> {
        self.id(name).map(|id| self.type_at(id))
    }

    /// Types with their ids, sorted by name.
    pub(crate) fn types(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).map(TypeId).zip(&self.types)
    }

    pub(crate) fn root(&self, kind: OperationType) -> Option<TypeId> {
        match kind {
            OperationType::Query => Some(self.query),
            OperationType::Mutation => self.mutation,
            OperationType::Subscription => self.subscription,
        }
    }

    /// Adds the directive `@defer` of [incremental
    /// delivery](https://github.com/graphql/graphql-spec/pull/1110).
    pub(crate) fn with_defer(mut self) -> Self {
        let ty = |name: &str, wrappers| {
            let named = self.id(name).unwrap_or(TypeId(0));
            TypeRef { named, wrappers }
        };
        let argument = |name: &str, description: &str, ty, default| InputField {
            name: name.into(),
            description: Some(description.into()),
            ty,
            default,
            deprecation: DeprecationStatus::Current,
        };
        let is_deferred = Default {
            value: InputValue::scalar(true),
            text: "true".to_owned(),
        };
        let boolean = ty("Boolean", Wrappers::NONE.non_null());
        let arguments = vec![
            argument(
                "if",
                "Deferred when true or undefined.",
                boolean,
                Some(is_deferred),
            ),
            argument("label", "Unique name", ty("String", Wrappers::NONE), None),
        ];
        self.directives.push(DirectiveDefinition {
            name: "defer".into(),
            description: Some(
                "Directs the executor to defer this fragment when the `if` argument is true or undefined."
                    .into(),
            ),
            locations: vec!["FRAGMENT_SPREAD".to_owned(), "INLINE_FRAGMENT".to_owned()],
            arguments,
            is_repeatable: false,
        });
        self.directives.sort_by(|one, other| one.name.cmp(&other.name));
        self
    }

    pub(crate) fn directive(&self, name: &str) -> Option<&DirectiveDefinition> {
        self.directives.iter().find(|directive| directive.name == *name)
    }

    /// Field `name` that can be selected on `parent`, also `__typename`, and at the query root the
    /// fields of introspection.
    pub(crate) fn selectable(&self, parent: TypeId, name: &str) -> Option<&Field> {
        if name.starts_with("__") {
            let [schema, ty, typename] = &self.meta_fields;
            match name {
                "__schema" if parent == self.query => return Some(schema),
                "__type" if parent == self.query => return Some(ty),
                "__typename" if self.type_at(parent).is_composite() => return Some(typename),
                _ => {}
            }
        }
        self.type_at(parent).field(name)
    }

    /// Field by its [coordinate](https://spec.graphql.org/September2025/#sec-Schema-Coordinates),
    /// `Type.field`.
    pub(crate) fn coordinate(&self, coordinate: &str) -> Option<&Field> {
        let (parent, field) = coordinate.split_once('.')?;
        self.type_named(parent)?.field(field)
    }

    /// Returns `true` if `field` has the argument `path`, which may lead through input objects.
    pub(crate) fn has_argument(&self, field: &Field, path: &str) -> bool {
        let mut steps = path.split('.');
        let mut found = steps.next().and_then(|name| field.argument(name));
        for step in steps {
            found = found.and_then(|input| match &self.type_at(input.ty.named).kind {
                TypeKind::InputObject(object) => object.fields.get(step),
                _ => None,
            });
        }
        found.is_some()
    }

    /// Names of the object types of each interface.
    pub(crate) fn implementers(&self) -> BTreeMap<String, Vec<String>> {
        let interfaces = self
            .types()
            .filter(|(_, ty)| matches!(ty.kind, TypeKind::Interface(_)));
        let objects = |ty: &Type| {
            let objects = ty.possible.iter().map(|id| self.type_at(*id).name.to_string());
            objects.collect()
        };
        interfaces
            .map(|(_, ty)| (ty.name.to_string(), objects(ty)))
            .collect()
    }

    /// Returns `true` if `object` is `other` or one of its possible types.
    pub(crate) fn is_possible(&self, object: TypeId, other: TypeId) -> bool {
        object == other || self.type_at(other).possible.binary_search(&object).is_ok()
    }

    /// Returns `true` if an object can have both types.
    pub(crate) fn overlap(&self, one: TypeId, other: TypeId) -> bool {
        if one == other {
            return true;
        }
        let (one, other) = (&self.type_at(one).possible, &self.type_at(other).possible);
        let (few, many) = if one.len() < other.len() {
            (one, other)
        } else {
            (other, one)
        };
        few.iter().any(|object| many.binary_search(object).is_ok())
    }

    /// The type as text, for example `[Int!]!`.
    pub(crate) fn print(&self, ty: TypeRef) -> String {
        ty.wrappers.around(&self.type_at(ty.named).name)
    }
}
