//! The types of `schema_2`, written by `tests/oracle/run schemas`.

mod inputs;
mod objects;

pub(crate) use self::inputs::*;
pub(crate) use self::objects::*;
use crate::oracle::prelude::*;

schema!(Query, Mutation);

#[graph_interface(for = [Human, Crew], context = Context)]
pub(crate) trait Being {
    fn total(&self, #[graphql(default = 3)] first: i32) -> Human;
    fn unit_price(&self) -> PlaceValue;
    fn name(&self) -> Vec<Option<Human>>;
}
make_abstract!(BeingValue: Human, Crew);

#[graph_interface(for = [Droid, Planet], context = Context)]
pub(crate) trait Place {
    fn owner(&self, first: Vec<bool>) -> Option<Crew>;
    fn items(&self) -> Vec<Option<Ship>>;
    fn matrix(&self) -> Option<Size>;
}
make_abstract!(PlaceValue: Droid, Planet);

#[graph_union(context = Context)]
pub(crate) enum Hit {
    Droid(Droid),
    Ship(Ship),
    Planet(Planet),
}
make_abstract!(Hit: Droid, Ship, Planet);
