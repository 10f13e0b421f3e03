//! Constant table of a type: its description, its guards and its fields.

use std::any::Any;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use juniper::meta::Argument;
use juniper::{ArcStr, DefaultScalarValue, InputValue, IntoFieldError, ToInputValue};

use super::handle::TypeHandle;
use super::messages::Input;
use super::{Abstract, Object, Source};
use crate::guard::demand::Guard;
use crate::validate::{Faults, Validation};

/// Coerced arguments of a field: an `Arc` of the tuple of their Rust types.
pub type Arguments = Arc<dyn Any + Send + Sync>;

/// Coerces the values of a field's arguments to their tuple, and validates them; `None` is an
/// absent argument.
pub type Coerce = fn(&[Option<InputValue>], &mut Faults<'_>) -> Result<Arguments, String>;

/// Declares the arguments of a field in juniper's registry.
pub type DeclareArguments = fn(&mut juniper::Registry) -> Vec<Argument<DefaultScalarValue>>;

/// Table of an object type, an interface or a union.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code writes it down")]
pub struct TypeInfo {
    /// GraphQL name.
    pub name: &'static str,
    /// Description in the schema.
    pub description: Option<&'static str>,
    /// Guards of the objects of this type; all must allow.
    pub guards: &'static [Guard],
    /// Interfaces that the type implements.
    pub interfaces: &'static [TypeHandle],
    /// Types of which a value of this interface or union is one.
    pub members: &'static [TypeHandle],
    /// Fields; a plan refers to those of an object type by index.
    pub fields: &'static [FieldInfo],
}

impl TypeInfo {
    /// Unnamed type, for struct update syntax.
    pub const EMPTY: Self = Self {
        name: "",
        description: None,
        guards: &[],
        interfaces: &[],
        members: &[],
        fields: &[],
    };
}

/// Entry of a field in the table of its type.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "generated code writes it down")]
pub struct FieldInfo {
    /// GraphQL name.
    pub name: &'static str,
    /// Description in the schema.
    pub description: Option<&'static str>,
    /// `Some` if the field is deprecated, with the reason if there is one.
    pub deprecated: Option<Option<&'static str>>,
    /// `true` if the resolver is an `async fn`.
    pub is_async: bool,
    /// `true` if the value is a field of a struct, so that there is no resolver to observe.
    pub is_property: bool,
    /// GraphQL names of the arguments, in tuple order.
    pub args: &'static [&'static str],
    /// Declares the arguments, in tuple order.
    pub declare: DeclareArguments,
    /// Coerces the arguments; `None` for a field without arguments.
    pub coerce: Option<Coerce>,
    /// Validation of the types of the arguments, in tuple order.
    pub validation: fn() -> Vec<Validation>,
    /// Guards of the field; all must allow.
    pub guards: &'static [Guard],
    /// Type of the value.
    pub ty: fn() -> TypeHandle,
}

impl FieldInfo {
    /// Unnamed field, for struct update syntax.
    pub const EMPTY: Self = Self {
        name: "",
        description: None,
        deprecated: None,
        is_async: false,
        is_property: false,
        args: &[],
        declare: |_| Vec::new(),
        coerce: None,
        validation: Vec::new,
        guards: &[],
        ty: TypeHandle::named::<bool>,
    };
}

/// Types of a schema that have a table, by GraphQL name.
#[derive(Debug, Default)]
pub struct Registry {
    types: HashMap<&'static str, &'static TypeInfo>,
    /// Names used by two types with different tables.
    clashes: Vec<&'static str>,
}

impl Registry {
    /// Registers an object type, the types of its fields, and its interfaces.
    pub fn object<C, T: Object<C> + ?Sized>(&mut self) {
        self.table(T::INFO);
    }

    /// Registers a subscription root and the types of its fields.
    pub fn source<C, T: Source<C> + ?Sized>(&mut self) {
        self.table(T::INFO);
    }

    /// Registers an interface or a union, its members, and the types of its fields.
    pub fn members<C, T: Abstract<C> + ?Sized>(&mut self) {
        self.table(T::INFO);
    }

    fn table(&mut self, info: &'static TypeInfo) {
        match self.types.entry(info.name) {
            Entry::Occupied(known) => {
                // addresses of constants are not unique: compare the names
                let names = |info: &TypeInfo| {
                    let fields = info.fields.iter().map(|field| field.name.into());
                    let members = info.members.iter().filter_map(|member| member.name());
                    fields.chain(members).collect::<Vec<ArcStr>>()
                };
                if names(known.get()) != names(info) {
                    self.clashes.push(info.name);
                }
            }
            Entry::Vacant(vacant) => {
                vacant.insert(info);
                let fields = info.fields.iter().map(|field| (field.ty)());
                let others = info.members.iter().chain(info.interfaces).copied();
                for ty in fields.chain(others) {
                    ty.register(self);
                }
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'static TypeInfo> {
        self.types.get(name).copied()
    }

    pub(crate) fn types(&self) -> impl Iterator<Item = &'static TypeInfo> {
        self.types.values().copied()
    }

    pub(crate) fn clashes(&self) -> &[&'static str] {
        &self.clashes
    }
}

/// Declares the argument `name` in juniper's registry.
pub fn declare_argument<T: Input>(
    registry: &mut juniper::Registry,
    name: &'static str,
) -> Argument<DefaultScalarValue> {
    registry.arg::<T>(name, &())
}

/// Declares the argument `name` with a default value.
pub fn declare_argument_with_default<T: Input + ToInputValue>(
    registry: &mut juniper::Registry,
    name: &'static str,
    value: &T,
) -> Argument<DefaultScalarValue> {
    registry.arg_with_default::<T>(name, value, &())
}

/// Coerces the argument at index `at`.
///
/// # Errors
///
/// The message of the type's parser, for the client.
pub fn argument<T: Input>(values: &[Option<InputValue>], at: usize) -> Result<T, String> {
    let parsed = match values.get(at).and_then(Option::as_ref) {
        Some(value) => T::from_input_value(value),
        None => T::from_implicit_null(),
    };
    parsed.map_err(|error| error.into_field_error().message().to_owned())
}
