//! The objects of `schema_3`, written by `tests/oracle/run schemas`.

use super::*;

object!(Human);

#[graph_object(impl = [PlaceValue], context = Context)]
impl Human {
    fn owner(&self, context: &Context) -> Result<Vec<bool>, GraphError> {
        context.host().now_or_fail("Human.owner", self.seed, &[])
    }
    fn items(&self, context: &Context) -> Result<Option<Hit>, GraphError> {
        context.host().now_or_fail("Human.items", self.seed, &[])
    }
    fn matrix(&self, context: &Context, first: Vec<Option<Vec<Option<Colour>>>>) -> Result<Mark, GraphError> {
        context.host().now_or_fail("Human.matrix", self.seed, &[&first])
    }
    async fn parent(&self, context: &Context) -> Option<f64> {
        context.host().later("Human.parent", self.seed, &[]).await
    }
    fn note(&self, context: &Context) -> Vec<Droid> {
        context.host().now("Human.note", self.seed, &[])
    }
    async fn history(&self, context: &Context) -> Result<Mark, GraphError> {
        context
            .host()
            .later_or_fail("Human.history", self.seed, &[])
            .await
    }
    fn label(&self, context: &Context, first: Vec<Vec<Option<Filter>>>, by_what: Option<bool>) -> i32 {
        context.host().now("Human.label", self.seed, &[&first, &by_what])
    }
}

object!(Droid);

#[graph_object(impl = [BeingValue], context = Context)]
impl Droid {
    async fn total(&self, context: &Context) -> Vec<String> {
        context.host().later("Droid.total", self.seed, &[]).await
    }
    fn unit_price(&self, context: &Context) -> Result<BeingValue, GraphError> {
        context.host().now_or_fail("Droid.unitPrice", self.seed, &[])
    }
    async fn name(&self, context: &Context, first: Filter) -> Result<Vec<Vec<Option<Human>>>, GraphError> {
        context
            .host()
            .later_or_fail("Droid.name", self.seed, &[&first])
            .await
    }
    async fn note(&self, context: &Context, first: ID) -> Vec<Human> {
        context.host().later("Droid.note", self.seed, &[&first]).await
    }
    async fn code(&self, context: &Context) -> Option<f64> {
        context.host().later("Droid.code", self.seed, &[]).await
    }
    async fn best(&self, context: &Context) -> Result<Hit, GraphError> {
        context.host().later_or_fail("Droid.best", self.seed, &[]).await
    }
    fn cells(
        &self,
        context: &Context,
        first: Vec<Option<Span>>,
        by_what: i32,
        deep_filter: Vec<Option<Vec<Span>>>,
    ) -> Option<Vec<Option<Size>>> {
        context
            .host()
            .now("Droid.cells", self.seed, &[&first, &by_what, &deep_filter])
    }
}

object!(Ship);

#[graph_object(impl = [BeingValue, PlaceValue], context = Context)]
impl Ship {
    async fn total(&self, context: &Context) -> Result<Option<Vec<String>>, GraphError> {
        context.host().later_or_fail("Ship.total", self.seed, &[]).await
    }
    fn unit_price(&self, context: &Context) -> BeingValue {
        context.host().now("Ship.unitPrice", self.seed, &[])
    }
    fn name(&self, context: &Context, first: Filter) -> Vec<Vec<Option<Human>>> {
        context.host().now("Ship.name", self.seed, &[&first])
    }
    fn owner(&self, context: &Context) -> Result<Vec<bool>, GraphError> {
        context.host().now_or_fail("Ship.owner", self.seed, &[])
    }
    fn items(&self, context: &Context) -> Result<Hit, GraphError> {
        context.host().now_or_fail("Ship.items", self.seed, &[])
    }
    async fn matrix(
        &self,
        context: &Context,
        first: Vec<Option<Vec<Option<Colour>>>>,
    ) -> Result<Mark, GraphError> {
        context
            .host()
            .later_or_fail("Ship.matrix", self.seed, &[&first])
            .await
    }
    fn note(
        &self,
        context: &Context,
        first: String,
        by_what: Vec<Vec<Option<String>>>,
        deep_filter: Vec<Option<String>>,
    ) -> Vec<Vec<BeingValue>> {
        context
            .host()
            .now("Ship.note", self.seed, &[&first, &by_what, &deep_filter])
    }
    fn tags(&self, context: &Context, first: Filter, by_what: ID) -> &'static str {
        context.host().now("Ship.tags", self.seed, &[&first, &by_what])
    }
    fn rows(
        &self,
        context: &Context,
        first: Option<Vec<String>>,
        #[graphql(default = "a default".to_owned())] by_what: String,
    ) -> Option<Vec<Vec<BeingValue>>> {
        context.host().now("Ship.rows", self.seed, &[&first, &by_what])
    }
    async fn extra(&self, context: &Context) -> Option<ID> {
        context.host().later("Ship.extra", self.seed, &[]).await
    }
}

object!(Planet);

#[graph_object(impl = [BeingValue, PlaceValue], context = Context)]
impl Planet {
    fn total(&self, context: &Context) -> Result<Option<Vec<String>>, GraphError> {
        context.host().now_or_fail("Planet.total", self.seed, &[])
    }
    fn unit_price(&self, context: &Context) -> Result<Self, GraphError> {
        context.host().now_or_fail("Planet.unitPrice", self.seed, &[])
    }
    fn name(&self, context: &Context, first: Filter) -> Vec<Vec<Option<Human>>> {
        context.host().now("Planet.name", self.seed, &[&first])
    }
    async fn owner(&self, context: &Context) -> Option<Vec<bool>> {
        context.host().later("Planet.owner", self.seed, &[]).await
    }
    fn items(&self, context: &Context) -> Result<Option<Hit>, GraphError> {
        context.host().now_or_fail("Planet.items", self.seed, &[])
    }
    fn matrix(&self, context: &Context, first: Vec<Option<Vec<Option<Colour>>>>) -> Result<Mark, GraphError> {
        context.host().now_or_fail("Planet.matrix", self.seed, &[&first])
    }
    async fn parent(&self, context: &Context, first: Option<Size>) -> Result<Option<Self>, GraphError> {
        context
            .host()
            .later_or_fail("Planet.parent", self.seed, &[&first])
            .await
    }
    async fn tags(&self, context: &Context) -> Vec<Option<Vec<Option<Human>>>> {
        context.host().later("Planet.tags", self.seed, &[]).await
    }
    fn peer(&self, context: &Context, first: Filter, by_what: String) -> Option<Size> {
        context.host().now("Planet.peer", self.seed, &[&first, &by_what])
    }
    async fn history(&self, context: &Context) -> Option<Vec<Vec<Option<PlaceValue>>>> {
        context.host().later("Planet.history", self.seed, &[]).await
    }
}

#[derive(GraphObject)]
#[graphql(context = Context)]
pub(crate) struct Mark {
    code: f64,
    ratio: i32,
    name: ID,
    a_field_whose_name_is_longer_than_most: bool,
    tags: Option<Vec<Vec<String>>>,
    colour: Option<Colour>,
    size: Size,
    nearest: Option<Planet>,
}
record!(Mark: code, ratio, name, a_field_whose_name_is_longer_than_most, tags, colour, size, nearest);

pub(crate) struct Query;

#[graph_object(context = Context)]
impl Query {
    async fn hero(
        context: &Context,
        first: Vec<ID>,
        by_what: Span,
    ) -> Result<Option<Vec<BeingValue>>, GraphError> {
        context
            .host()
            .later_or_fail("Query.hero", 0, &[&first, &by_what])
            .await
    }
    async fn everybody(context: &Context, first: Option<Vec<Colour>>) -> Option<Vec<Vec<Human>>> {
        context.host().later("Query.everybody", 0, &[&first]).await
    }
    async fn one_of_them(
        context: &Context,
        first: Vec<Vec<Option<bool>>>,
        #[graphql(default = Some(3))] by_what: Option<i32>,
        deep_filter: Size,
    ) -> Result<Vec<Hit>, GraphError> {
        context
            .host()
            .later_or_fail("Query.oneOfThem", 0, &[&first, &by_what, &deep_filter])
            .await
    }
    fn ships(context: &Context, first: Vec<bool>, by_what: bool) -> Option<Vec<PlaceValue>> {
        context.host().now("Query.ships", 0, &[&first, &by_what])
    }
    async fn answer_to_all(context: &Context) -> Vec<PlaceValue> {
        context.host().later("Query.answerToAll", 0, &[]).await
    }
    fn marks(
        context: &Context,
        first: Vec<Option<Span>>,
        by_what: Vec<Vec<bool>>,
    ) -> Option<Vec<Option<Mark>>> {
        context.host().now("Query.marks", 0, &[&first, &by_what])
    }
    async fn any_droid(
        context: &Context,
        first: Nullable<String>,
        by_what: Nullable<Vec<Option<String>>>,
    ) -> Vec<Option<Droid>> {
        context
            .host()
            .later("Query.anyDroid", 0, &[&first, &by_what])
            .await
    }
    fn any_ship(context: &Context) -> Result<Option<Ship>, GraphError> {
        context.host().now_or_fail("Query.anyShip", 0, &[])
    }
    fn any_planet(context: &Context) -> Result<Vec<Vec<Planet>>, GraphError> {
        context.host().now_or_fail("Query.anyPlanet", 0, &[])
    }
}

pub(crate) struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn add_one(
        context: &Context,
        first: Span,
        by_what: String,
        deep_filter: Vec<Option<Size>>,
    ) -> Result<PlaceValue, GraphError> {
        context.host().change().await;
        context
            .host()
            .later_or_fail("Mutation.addOne", 0, &[&first, &by_what, &deep_filter])
            .await
    }
    async fn rename(context: &Context) -> Vec<Vec<bool>> {
        context.host().change().await;
        context.host().later("Mutation.rename", 0, &[]).await
    }
    async fn remove_all(context: &Context) -> PlaceValue {
        context.host().change().await;
        context.host().later("Mutation.removeAll", 0, &[]).await
    }
}
