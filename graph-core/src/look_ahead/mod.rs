//! Look-ahead: the fields that an operation selects below the field of a resolver.
//!
//! A resolver with a parameter of the type [`LookAhead`] reads which fields of its result the
//! operation selects, and loads only the columns for them. The names of the fields are checked by
//! the compiler. The type of the parameter is that of the innermost value: `LookAhead<'_, Charge>`
//! for a resolver that returns `Result<Vec<Charge>, GraphError>`.
//!
//! `look_ahead` in the attribute of an object type implements [`Selectable`] for it:
//!
//! ```
//! use graph_core::look_ahead::LookAhead;
//! use graph_core::{Engine, GraphObject, GraphRequest, RequestContext, graph_object};
//! use juniper::{EmptyMutation, EmptySubscription, RootNode};
//!
//! type Context = RequestContext<()>;
//!
//! #[derive(GraphObject)]
//! #[graphql(context = Context, look_ahead)]
//! struct Charge {
//!     amount: i32,
//!     description: Option<String>,
//! }
//!
//! struct Query;
//!
//! #[graph_object(context = Context)]
//! impl Query {
//!     fn charges(look_ahead: LookAhead<'_, Charge>) -> Vec<Charge> {
//!         // read the long column only if the operation selects it
//!         let description = look_ahead.selects(|charge| charge.description);
//!         vec![Charge { amount: 5, description: description.then(|| "one".to_owned()) }]
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mutation, subscription) = (EmptyMutation::<Context>::new(), EmptySubscription::new());
//! let engine = Engine::builder(RootNode::new(Query, mutation, subscription)).build()?;
//! let query = "{ charges { ...c } } fragment c on Charge { text: description }";
//! let request = GraphRequest::new(query);
//! let response = engine.execute(&request, &RequestContext::new(())).await;
//! assert_eq!(serde_json::to_value(&response)?["data"]["charges"][0]["text"], "one");
//! # Ok(())
//! # }
//! ```
//!
//! # What counts as selected
//!
//! - A field counts if the operation selects it directly, through a fragment, under an alias, or
//!   in a deferred fragment. `@skip` and `@include` are applied.
//! - A field that a guard on the principal refuses, or whose arguments are invalid, does not count:
//!   its resolver will not run.
//! - A field with a guard function counts: the function is called later, for each object.
//! - `__typename` is not a field of the type.
//!
//! # Loaders
//!
//! A [`SelectiveBatch`](crate::loader::SelectiveBatch) receives the union of the [`FieldSet`]s of
//! all resolvers that wait for the batch. One statement then reads the columns for these fields.

mod field_set;
mod selectable;

use std::any::Any;
use std::marker::PhantomData;

pub use self::field_set::FieldSet;
pub use self::selectable::{AbstractType, FieldRef, Selectable, Selects};
use crate::executor::Field;
use crate::executor::decisions::Decisions;

/// Fields that an operation selects on values of the type `T`: an object type, an interface or a
/// union.
///
/// If the operation selects a field several times under different aliases, their selections are
/// merged. [`each`](Self::each) separates them.
pub struct LookAhead<'p, T: ?Sized> {
    /// Fields whose values have the type `T`.
    fields: Vec<&'p Field>,
    decisions: &'p Decisions,
    of: PhantomData<fn(&T)>,
}

impl<'p, T: ?Sized> LookAhead<'p, T> {
    pub(crate) fn new(field: &'p Field, decisions: &'p Decisions) -> Self {
        Self {
            fields: vec![field],
            decisions,
            of: PhantomData,
        }
    }
}

/// Each method has its own bound: [`on`](LookAhead::on) is for interfaces and unions, the others
/// are for object types with `look_ahead`.
impl<'p, T> LookAhead<'p, T> {
    /// Returns `true` if the operation selects the field.
    pub fn selects<A, V: ?Sized>(&self, field: impl FnOnce(&T::Fields) -> FieldRef<T, A, V>) -> bool
    where
        T: Selectable,
    {
        let index = field(&T::FIELDS).index();
        self.visit_until(&mut |selected| selected.idx == index)
    }

    /// Returns the selections of the field, one for each response key.
    #[must_use]
    pub fn each<A: Any, V: ?Sized>(
        &self,
        field: impl FnOnce(&T::Fields) -> FieldRef<T, A, V>,
    ) -> Vec<SelectedField<'p, A, V>>
    where
        T: Selectable,
    {
        let selected = self.matching(field(&T::FIELDS).index()).into_iter();
        let selected = selected.filter_map(|field| {
            Some(SelectedField {
                field,
                arguments: self.decisions.arguments(field)?.downcast_ref()?,
                decisions: self.decisions,
                value: PhantomData,
            })
        });
        selected.collect()
    }

    /// Returns the look-ahead for the values of the field.
    #[must_use]
    pub fn below<A, V: Selects + ?Sized>(
        &self,
        field: impl FnOnce(&T::Fields) -> FieldRef<T, A, V>,
    ) -> LookAhead<'p, V::Type>
    where
        T: Selectable,
    {
        LookAhead {
            fields: self.matching(field(&T::FIELDS).index()),
            decisions: self.decisions,
            of: PhantomData,
        }
    }

    /// Returns the set of selected fields.
    #[must_use]
    pub fn fields(&self) -> FieldSet<T>
    where
        T: Selectable,
    {
        let mut set = FieldSet::default();
        self.visit_until(&mut |selected| {
            set.insert_index(selected.idx);
            false
        });
        set
    }

    /// Returns the selections of the field with this index.
    fn matching(&self, index: u16) -> Vec<&'p Field>
    where
        T: Selectable,
    {
        let mut found = Vec::new();
        self.visit_until(&mut |selected| {
            if selected.idx == index {
                found.push(selected);
            }
            false
        });
        found
    }

    /// Calls `visit` for each field that counts as selected, until a call returns `true`. Returns
    /// `true` if a call did.
    fn visit_until(&self, visit: &mut dyn FnMut(&'p Field) -> bool) -> bool
    where
        T: Selectable,
    {
        let mut below = self.fields.iter().map(|field| field.selected(T::NAME));
        below.any(|fields| visit_until(fields, self.decisions, visit))
    }

    /// Returns the look-ahead for objects of the type `O`. It is empty if `O` is not a type of this
    /// interface or union.
    #[must_use]
    pub fn on<O: Selectable>(&self) -> LookAhead<'p, O>
    where
        T: AbstractType,
    {
        LookAhead {
            fields: self.fields.clone(),
            decisions: self.decisions,
            of: PhantomData,
        }
    }
}

impl<T: Selectable> std::fmt::Debug for LookAhead<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LookAhead").field(&self.fields()).finish()
    }
}

/// Calls `visit` for each of `fields`, and for the fields of their deferred fragments, until a call
/// returns `true`.
fn visit_until<'p>(
    fields: &'p [Field],
    decisions: &Decisions,
    visit: &mut dyn FnMut(&'p Field) -> bool,
) -> bool {
    fields.iter().any(|field| match field.idx {
        Field::CONST => false,
        Field::DEFERRED => visit_until(field.selected(""), decisions, visit),
        _ => !decisions.refuses(field) && visit(field),
    })
}

/// One selection of a field, with its arguments `A` and its value of the type `V`.
pub struct SelectedField<'p, A, V: ?Sized> {
    field: &'p Field,
    arguments: &'p A,
    decisions: &'p Decisions,
    value: PhantomData<fn(&V)>,
}

impl<'p, A, V: ?Sized> SelectedField<'p, A, V> {
    /// Returns the coerced arguments, in the order of the resolver's parameters.
    #[must_use]
    pub fn arguments(&self) -> &'p A {
        self.arguments
    }

    /// Returns the response key: the alias, or else the name of the field.
    #[must_use]
    pub fn response_key(&self) -> String {
        self.field.key.name()
    }
}

impl<'p, A, V: Selects + ?Sized> SelectedField<'p, A, V> {
    /// Returns the look-ahead for the values of the field.
    #[must_use]
    pub fn look_ahead(&self) -> LookAhead<'p, V::Type> {
        LookAhead::new(self.field, self.decisions)
    }
}

impl<A, V: ?Sized> std::fmt::Debug for SelectedField<'_, A, V> {
    /// Omits the arguments, which may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SelectedField")
            .field("response_key", &self.response_key())
            .finish_non_exhaustive()
    }
}
