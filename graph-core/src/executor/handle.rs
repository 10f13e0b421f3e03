//! Reference to a GraphQL type.

use juniper::{ArcStr, DefaultScalarValue, GraphQLType, Type};

use super::output::Output;
use super::table::Registry;

/// GraphQL type of a field, a member or an interface.
///
/// The functions are called when a schema and its engine are built.
#[derive(Clone, Copy, Debug)]
pub struct TypeHandle {
    name: fn() -> Option<ArcStr>,
    declare: fn(&mut juniper::Registry) -> Type,
    register: fn(&mut Registry),
}

impl TypeHandle {
    /// Handle of the type `T` in a graph with the context `C`.
    #[must_use]
    pub const fn of<C, T>() -> Self
    where
        T: Output<C> + GraphQLType<DefaultScalarValue, TypeInfo = ()> + ?Sized,
    {
        Self {
            register: T::register,
            ..Self::named::<T>()
        }
    }

    /// Handle of a type without a table, such as a scalar.
    #[must_use]
    pub const fn named<T>() -> Self
    where
        T: GraphQLType<DefaultScalarValue, TypeInfo = ()> + ?Sized,
    {
        Self {
            name: || T::name(&()),
            declare: |registry| registry.get_type::<T>(&()),
            register: |_| {},
        }
    }

    /// GraphQL name; `None` for a list or a nullable type.
    pub(crate) fn name(self) -> Option<ArcStr> {
        (self.name)()
    }

    /// Declares the type in juniper's registry.
    pub(crate) fn declare(self, registry: &mut juniper::Registry) -> Type {
        (self.declare)(registry)
    }

    /// Registers the tables of the type.
    pub(crate) fn register(self, registry: &mut Registry) {
        (self.register)(registry);
    }
}
