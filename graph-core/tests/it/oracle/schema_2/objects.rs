//! The objects of `schema_2`, written by `tests/oracle/run schemas`.

use super::*;

object!(Human);

#[graph_object(impl = [BeingValue], context = Context)]
impl Human {
    async fn total(&self, context: &Context, #[graphql(default = 3)] first: i32) -> Result<Self, GraphError> {
        context
            .host()
            .later_or_fail("Human.total", self.seed, &[&first])
            .await
    }
    fn unit_price(&self, context: &Context) -> Result<PlaceValue, GraphError> {
        context.host().now_or_fail("Human.unitPrice", self.seed, &[])
    }
    fn name(&self, context: &Context) -> Vec<Option<Self>> {
        context.host().now("Human.name", self.seed, &[])
    }
    fn parent(&self, context: &Context, first: Vec<Option<Span>>) -> Result<Crew, GraphError> {
        context.host().now_or_fail("Human.parent", self.seed, &[&first])
    }
    fn peer(
        &self,
        context: &Context,
        first: Size,
        by_what: Option<Vec<Option<Vec<i32>>>>,
    ) -> Result<Option<f64>, GraphError> {
        context
            .host()
            .now_or_fail("Human.peer", self.seed, &[&first, &by_what])
    }
    fn code(&self, context: &Context) -> Result<Size, GraphError> {
        context.host().now_or_fail("Human.code", self.seed, &[])
    }
    fn extra(
        &self,
        context: &Context,
        first: Option<Vec<Option<Colour>>>,
        #[graphql(default = Some(2.5))] by_what: Option<f64>,
        deep_filter: f64,
    ) -> Result<Option<Vec<Hit>>, GraphError> {
        context
            .host()
            .now_or_fail("Human.extra", self.seed, &[&first, &by_what, &deep_filter])
    }
}

object!(Droid);

#[graph_object(impl = [PlaceValue], context = Context)]
impl Droid {
    fn owner(&self, context: &Context, first: Vec<bool>) -> Result<Option<Crew>, GraphError> {
        context.host().now_or_fail("Droid.owner", self.seed, &[&first])
    }
    fn items(&self, context: &Context) -> Vec<Option<Ship>> {
        context.host().now("Droid.items", self.seed, &[])
    }
    async fn matrix(&self, context: &Context) -> Size {
        context.host().later("Droid.matrix", self.seed, &[]).await
    }
    fn tags(&self, context: &Context) -> Option<Vec<Human>> {
        context.host().now("Droid.tags", self.seed, &[])
    }
    fn a_field_whose_name_is_longer_than_most(&self, context: &Context) -> Vec<Crew> {
        context
            .host()
            .now("Droid.aFieldWhoseNameIsLongerThanMost", self.seed, &[])
    }
    fn label(&self, context: &Context, first: Option<Vec<Span>>) -> Result<Vec<Human>, GraphError> {
        context.host().now_or_fail("Droid.label", self.seed, &[&first])
    }
    fn extra(
        &self,
        context: &Context,
        first: Vec<Option<Vec<Colour>>>,
        by_what: Vec<Option<Vec<Option<ID>>>>,
    ) -> Vec<Ship> {
        context.host().now("Droid.extra", self.seed, &[&first, &by_what])
    }
}

object!(Ship);

#[graph_object(context = Context)]
impl Ship {
    fn nearest(
        &self,
        context: &Context,
        first: Vec<Vec<Span>>,
        by_what: Vec<Option<f64>>,
    ) -> Result<Option<Vec<bool>>, GraphError> {
        context
            .host()
            .now_or_fail("Ship.nearest", self.seed, &[&first, &by_what])
    }
    async fn history(&self, context: &Context) -> f64 {
        context.host().later("Ship.history", self.seed, &[]).await
    }
    fn grid(&self, context: &Context) -> Result<Vec<Option<f64>>, GraphError> {
        context.host().now_or_fail("Ship.grid", self.seed, &[])
    }
    fn extra(&self, context: &Context, first: Option<Vec<Filter>>) -> Option<Vec<Option<Vec<Droid>>>> {
        context.host().now("Ship.extra", self.seed, &[&first])
    }
}

object!(Planet);

#[graph_object(impl = [PlaceValue], context = Context)]
impl Planet {
    async fn owner(&self, context: &Context, first: Vec<bool>) -> Result<Option<Crew>, GraphError> {
        context
            .host()
            .later_or_fail("Planet.owner", self.seed, &[&first])
            .await
    }
    fn items(&self, context: &Context) -> Vec<Option<Ship>> {
        context.host().now("Planet.items", self.seed, &[])
    }
    fn matrix(&self, context: &Context) -> Option<Size> {
        context.host().now("Planet.matrix", self.seed, &[])
    }
    async fn flag(&self, context: &Context) -> Vec<Vec<Option<ID>>> {
        context.host().later("Planet.flag", self.seed, &[]).await
    }
    async fn best(&self, context: &Context) -> Option<Vec<Option<PlaceValue>>> {
        context.host().later("Planet.best", self.seed, &[]).await
    }
    async fn cells(
        &self,
        context: &Context,
        first: Filter,
        by_what: Vec<Option<f64>>,
        deep_filter: i32,
    ) -> Option<Vec<Vec<Option<String>>>> {
        context
            .host()
            .later("Planet.cells", self.seed, &[&first, &by_what, &deep_filter])
            .await
    }
    fn mark(
        &self,
        context: &Context,
        first: Option<Filter>,
        by_what: Option<Colour>,
        deep_filter: Vec<Vec<Option<f64>>>,
    ) -> Vec<Vec<&'static str>> {
        context
            .host()
            .now("Planet.mark", self.seed, &[&first, &by_what, &deep_filter])
    }
}

object!(Crew);

#[graph_object(impl = [BeingValue], context = Context)]
impl Crew {
    fn total(&self, context: &Context, #[graphql(default = 3)] first: i32) -> Human {
        context.host().now("Crew.total", self.seed, &[&first])
    }
    fn unit_price(&self, context: &Context) -> PlaceValue {
        context.host().now("Crew.unitPrice", self.seed, &[])
    }
    fn name(&self, context: &Context) -> Result<Vec<Option<Human>>, GraphError> {
        context.host().now_or_fail("Crew.name", self.seed, &[])
    }
    fn note(&self, context: &Context) -> Option<Vec<Option<f64>>> {
        context.host().now("Crew.note", self.seed, &[])
    }
    async fn code(&self, context: &Context) -> Option<Vec<Option<Vec<Human>>>> {
        context.host().later("Crew.code", self.seed, &[]).await
    }
    async fn label(&self, context: &Context) -> Size {
        context.host().later("Crew.label", self.seed, &[]).await
    }
    async fn extra(&self, context: &Context) -> Vec<Vec<Option<i32>>> {
        context.host().later("Crew.extra", self.seed, &[]).await
    }
}

#[derive(GraphObject)]
#[graphql(context = Context)]
pub(crate) struct Mark {
    code: bool,
    ratio: i32,
    name: ID,
    a_field_whose_name_is_longer_than_most: Option<i32>,
    tags: Option<Vec<Option<Vec<String>>>>,
    colour: Option<Colour>,
    size: Size,
    nearest: Option<Planet>,
}
record!(Mark: code, ratio, name, a_field_whose_name_is_longer_than_most, tags, colour, size, nearest);

pub(crate) struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn hero(context: &Context) -> Vec<Vec<BeingValue>> {
        context.host().later("Query.hero", 0, &[]).await
    }
    fn everybody(context: &Context) -> Vec<Human> {
        context.host().now("Query.everybody", 0, &[])
    }
    fn one_of_them(context: &Context) -> Option<Hit> {
        context.host().now("Query.oneOfThem", 0, &[])
    }
    fn ships(context: &Context, first: Vec<ID>, by_what: Option<f64>) -> Result<Vec<PlaceValue>, GraphError> {
        context.host().now_or_fail("Query.ships", 0, &[&first, &by_what])
    }
    fn answer_to_all(context: &Context) -> Result<Option<BeingValue>, GraphError> {
        context.host().now_or_fail("Query.answerToAll", 0, &[])
    }
    async fn marks(
        context: &Context,
        first: Nullable<Vec<bool>>,
        #[graphql(default = 3)] by_what: i32,
        deep_filter: Option<Vec<Option<String>>>,
    ) -> Option<Mark> {
        context
            .host()
            .later("Query.marks", 0, &[&first, &by_what, &deep_filter])
            .await
    }
    fn any_droid(
        context: &Context,
        first: Vec<Option<Span>>,
        by_what: Option<Vec<Vec<f64>>>,
        deep_filter: Option<Vec<i32>>,
    ) -> Result<Droid, GraphError> {
        context
            .host()
            .now_or_fail("Query.anyDroid", 0, &[&first, &by_what, &deep_filter])
    }
    async fn any_ship(context: &Context) -> Vec<Ship> {
        context.host().later("Query.anyShip", 0, &[]).await
    }
    async fn any_planet(context: &Context) -> Option<Planet> {
        context.host().later("Query.anyPlanet", 0, &[]).await
    }
    fn any_crew(context: &Context) -> Vec<Option<Crew>> {
        context.host().now("Query.anyCrew", 0, &[])
    }
}

pub(crate) struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn add_one(context: &Context) -> Hit {
        context.host().change().await;
        context.host().later("Mutation.addOne", 0, &[]).await
    }
    async fn rename(context: &Context) -> Option<Crew> {
        context.host().change().await;
        context.host().later("Mutation.rename", 0, &[]).await
    }
    async fn remove_all(context: &Context) -> Result<Vec<Hit>, GraphError> {
        context.host().change().await;
        context.host().later_or_fail("Mutation.removeAll", 0, &[]).await
    }
}
