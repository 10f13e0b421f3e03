//! The types of `schema_3`, written by `tests/oracle/run schemas`.

mod inputs;
mod objects;

pub(crate) use self::inputs::*;
pub(crate) use self::objects::*;
use crate::oracle::prelude::*;

schema!(Query, Mutation);

#[graph_interface(for = [Droid, Ship, Planet], context = Context)]
pub(crate) trait Being {
    fn total(&self) -> Option<Vec<String>>;
    fn unit_price(&self) -> BeingValue;
    fn name(&self, first: Filter) -> Vec<Vec<Option<Human>>>;
}
make_abstract!(BeingValue: Droid, Ship, Planet);

#[graph_interface(for = [Human, Ship, Planet], context = Context)]
pub(crate) trait Place {
    fn owner(&self) -> Option<Vec<bool>>;
    fn items(&self) -> Option<Hit>;
    fn matrix(&self, first: Vec<Option<Vec<Option<Colour>>>>) -> Mark;
}
make_abstract!(PlaceValue: Human, Ship, Planet);

#[graph_union(context = Context)]
pub(crate) enum Hit {
    Human(Human),
    Planet(Planet),
}
make_abstract!(Hit: Human, Planet);
