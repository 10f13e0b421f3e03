//! The types of `schema_1`, written by `tests/oracle/run schemas`.

mod inputs;
mod objects;

pub(crate) use self::inputs::*;
pub(crate) use self::objects::*;
use crate::oracle::prelude::*;

schema!(Query, Mutation);

#[graph_interface(for = [Droid, Ship], context = Context)]
pub(crate) trait Being {
    fn total(
        &self,
        first: Nullable<i32>,
        #[graphql(default = Some(3))] by_what: Option<i32>,
        deep_filter: Option<Vec<Size>>,
    ) -> Option<PlaceValue>;
    fn unit_price(&self) -> Option<Vec<i32>>;
    fn name(&self) -> Option<Human>;
}
make_abstract!(BeingValue: Droid, Ship);

#[graph_interface(for = [Human, Droid, Ship], context = Context)]
pub(crate) trait Place {
    fn owner(&self) -> Hit;
    fn items(&self) -> Human;
    fn matrix(&self, first: Option<Vec<Option<bool>>>, by_what: Vec<i32>) -> Option<Vec<Vec<PlaceValue>>>;
}
make_abstract!(PlaceValue: Human, Droid, Ship);

#[graph_union(context = Context)]
pub(crate) enum Hit {
    Droid(Droid),
    Ship(Ship),
    Planet(Planet),
}
make_abstract!(Hit: Droid, Ship, Planet);
