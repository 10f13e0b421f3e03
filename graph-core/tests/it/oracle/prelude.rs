//! Imports and macros of the generated sources.

pub(crate) use graph_core::engine::EngineBuilder;
use graph_core::limits::Limits;
pub(crate) use graph_core::{
    Engine, GraphEnum, GraphError, GraphObject, RequestContext, graph_interface, graph_object, graph_union,
};
pub(crate) use juniper::{EmptyMutation, EmptySubscription, ID, Nullable, RootNode};

pub(crate) use super::canon::{Canon, canon};
pub(crate) use super::roll::{Make, Roll};
use super::world::World;

pub(crate) type Context = RequestContext<World>;

/// Object type whose only state is its seed.
macro_rules! object {
    ($name:ident) => {
        pub(crate) struct $name {
            seed: u32,
        }

        impl Make for $name {
            fn make(roll: &mut Roll) -> Self {
                Self { seed: roll.next() }
            }
        }
    };
}
pub(crate) use object;

/// Interface or union value: one of its members.
macro_rules! make_abstract {
    ($name:ident: $($member:ident),+) => {
        impl Make for $name {
            fn make(roll: &mut Roll) -> Self {
                let members: &[fn(&mut Roll) -> Self] = &[$(|roll| Self::$member($member::make(roll))),+];
                roll.pick(members)(roll)
            }
        }
    };
}
pub(crate) use make_abstract;

/// Struct that holds its values.
macro_rules! record {
    ($name:ident: $($field:ident),+) => {
        impl Make for $name {
            fn make(roll: &mut Roll) -> Self {
                Self { $($field: Make::make(roll),)+ }
            }
        }
    };
}
pub(crate) use record;

macro_rules! enumeration {
    ($name:ident: $($variant:ident = $value:literal),+) => {
        impl Make for $name {
            fn make(roll: &mut Roll) -> Self {
                *roll.pick(&[$(Self::$variant),+])
            }
        }

        impl Canon for $name {
            fn canon(&self) -> String {
                match self {
                    $(Self::$variant => $value,)+
                }
                .to_owned()
            }
        }
    };
}
pub(crate) use enumeration;

macro_rules! canon_input {
    ($name:ident: $($field:ident),+) => {
        impl Canon for $name {
            fn canon(&self) -> String {
                let fields = [$(format!("{}:{}", stringify!($field), self.$field.canon())),+];
                format!("{{{}}}", fields.join(","))
            }
        }
    };
}
pub(crate) use canon_input;

macro_rules! schema {
    ($query:ident) => {
        schema!($query, EmptyMutation<Context>, EmptyMutation::new());
    };
    ($query:ident, $mutation:ident) => {
        schema!($query, $mutation, $mutation);
    };
    ($query:ident, $mutation:ty, $changes:expr) => {
        pub(crate) type Built = Engine<$query, $mutation, EmptySubscription<Context>>;

        fn builder() -> EngineBuilder<$query, $mutation, EmptySubscription<Context>> {
            let root = RootNode::new($query, $changes, EmptySubscription::new());
            Engine::builder(root).with_limits(unlimited())
        }

        pub(crate) fn engine() -> Built {
            builder().build().unwrap()
        }

        pub(crate) fn deferring() -> Built {
            builder().with_incremental_delivery().build().unwrap()
        }
    };
}
pub(crate) use schema;

/// No limits in these tests.
pub(crate) fn unlimited() -> Limits {
    let limits = Limits::default().with_depth(1000).with_cost(u64::MAX);
    limits
        .with_aliases(10_000)
        .with_root_fields(10_000)
        .with_tokens(1_000_000)
}
