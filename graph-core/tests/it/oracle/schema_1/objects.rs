//! The objects of `schema_1`, written by `tests/oracle/run schemas`.

use super::*;

object!(Human);

#[graph_object(impl = [PlaceValue], context = Context)]
impl Human {
    fn owner(&self, context: &Context) -> Result<Planet, GraphError> {
        context.host().now_or_fail("Human.owner", self.seed, &[])
    }
    fn items(&self, context: &Context) -> Self {
        context.host().now("Human.items", self.seed, &[])
    }
    fn matrix(
        &self,
        context: &Context,
        first: Option<Vec<Option<bool>>>,
        by_what: Vec<i32>,
    ) -> Option<Vec<Vec<PlaceValue>>> {
        context.host().now("Human.matrix", self.seed, &[&first, &by_what])
    }
    fn peer(&self, context: &Context, first: Option<i32>) -> Vec<Vec<i32>> {
        context.host().now("Human.peer", self.seed, &[&first])
    }
    fn flag(&self, context: &Context) -> Vec<Vec<Option<&'static str>>> {
        context.host().now("Human.flag", self.seed, &[])
    }
    fn best(&self, context: &Context, first: Vec<Option<String>>) -> Result<Vec<Hit>, GraphError> {
        context.host().now_or_fail("Human.best", self.seed, &[&first])
    }
    async fn mark(&self, context: &Context, first: Option<Vec<Vec<Option<Size>>>>) -> Option<Vec<Mark>> {
        context.host().later("Human.mark", self.seed, &[&first]).await
    }
}

object!(Droid);

#[graph_object(impl = [BeingValue, PlaceValue], context = Context)]
impl Droid {
    fn total(
        &self,
        context: &Context,
        first: Nullable<i32>,
        #[graphql(default = Some(3))] by_what: Option<i32>,
        deep_filter: Option<Vec<Size>>,
    ) -> PlaceValue {
        context
            .host()
            .now("Droid.total", self.seed, &[&first, &by_what, &deep_filter])
    }
    async fn unit_price(&self, context: &Context) -> Option<Vec<i32>> {
        context.host().later("Droid.unitPrice", self.seed, &[]).await
    }
    fn name(&self, context: &Context) -> Option<Human> {
        context.host().now("Droid.name", self.seed, &[])
    }
    fn owner(&self, context: &Context) -> Hit {
        context.host().now("Droid.owner", self.seed, &[])
    }
    fn items(&self, context: &Context) -> Result<Human, GraphError> {
        context.host().now_or_fail("Droid.items", self.seed, &[])
    }
    fn matrix(
        &self,
        context: &Context,
        first: Option<Vec<Option<bool>>>,
        by_what: Vec<i32>,
    ) -> Option<Vec<Vec<PlaceValue>>> {
        context.host().now("Droid.matrix", self.seed, &[&first, &by_what])
    }
    async fn parent(&self, context: &Context) -> ID {
        context.host().later("Droid.parent", self.seed, &[]).await
    }
    fn kind(&self, context: &Context, first: bool) -> Vec<Planet> {
        context.host().now("Droid.kind", self.seed, &[&first])
    }
    fn best(&self, context: &Context) -> Option<String> {
        context.host().now("Droid.best", self.seed, &[])
    }
    fn nearest(
        &self,
        context: &Context,
        #[graphql(default = 3)] first: i32,
    ) -> Result<Option<Vec<f64>>, GraphError> {
        context.host().now_or_fail("Droid.nearest", self.seed, &[&first])
    }
}

object!(Ship);

#[graph_object(impl = [BeingValue, PlaceValue], context = Context)]
impl Ship {
    async fn total(
        &self,
        context: &Context,
        first: Nullable<i32>,
        #[graphql(default = Some(3))] by_what: Option<i32>,
        deep_filter: Option<Vec<Size>>,
    ) -> PlaceValue {
        context
            .host()
            .later("Ship.total", self.seed, &[&first, &by_what, &deep_filter])
            .await
    }
    async fn unit_price(&self, context: &Context) -> Result<Option<Vec<i32>>, GraphError> {
        context
            .host()
            .later_or_fail("Ship.unitPrice", self.seed, &[])
            .await
    }
    fn name(&self, context: &Context) -> Option<Human> {
        context.host().now("Ship.name", self.seed, &[])
    }
    fn owner(&self, context: &Context) -> Droid {
        context.host().now("Ship.owner", self.seed, &[])
    }
    fn items(&self, context: &Context) -> Human {
        context.host().now("Ship.items", self.seed, &[])
    }
    fn matrix(
        &self,
        context: &Context,
        first: Option<Vec<Option<bool>>>,
        by_what: Vec<i32>,
    ) -> Result<Vec<Vec<Self>>, GraphError> {
        context
            .host()
            .now_or_fail("Ship.matrix", self.seed, &[&first, &by_what])
    }
    fn kind(
        &self,
        context: &Context,
        first: Colour,
        #[graphql(default = "a default".to_owned())] by_what: String,
        deep_filter: Vec<bool>,
    ) -> Option<Droid> {
        context
            .host()
            .now("Ship.kind", self.seed, &[&first, &by_what, &deep_filter])
    }
    async fn note(&self, context: &Context) -> Option<Vec<Option<f64>>> {
        context.host().later("Ship.note", self.seed, &[]).await
    }
    fn rows(&self, context: &Context) -> Vec<Vec<Droid>> {
        context.host().now("Ship.rows", self.seed, &[])
    }
    async fn extra(
        &self,
        context: &Context,
        first: Vec<Option<Span>>,
        by_what: Vec<Option<Vec<i32>>>,
    ) -> f64 {
        context
            .host()
            .later("Ship.extra", self.seed, &[&first, &by_what])
            .await
    }
}

object!(Planet);

#[graph_object(context = Context)]
impl Planet {
    async fn peer(&self, context: &Context, first: Option<Span>) -> Option<Vec<Option<Vec<Option<Hit>>>>> {
        context.host().later("Planet.peer", self.seed, &[&first]).await
    }
    fn flag(&self, context: &Context) -> Option<Vec<Option<Droid>>> {
        context.host().now("Planet.flag", self.seed, &[])
    }
    async fn best(
        &self,
        context: &Context,
        first: Span,
        by_what: Option<Colour>,
        deep_filter: Vec<i32>,
    ) -> Result<Option<Vec<Option<Vec<Ship>>>>, GraphError> {
        context
            .host()
            .later_or_fail("Planet.best", self.seed, &[&first, &by_what, &deep_filter])
            .await
    }
    async fn extra(
        &self,
        context: &Context,
        first: Vec<i32>,
        by_what: Nullable<String>,
    ) -> Vec<Option<BeingValue>> {
        context
            .host()
            .later("Planet.extra", self.seed, &[&first, &by_what])
            .await
    }
}

#[derive(GraphObject)]
#[graphql(context = Context)]
pub(crate) struct Mark {
    code: Option<String>,
    ratio: Option<i32>,
    name: String,
    a_field_whose_name_is_longer_than_most: String,
    tags: Vec<String>,
    colour: Option<Colour>,
    size: Size,
    nearest: Option<Ship>,
}
record!(Mark: code, ratio, name, a_field_whose_name_is_longer_than_most, tags, colour, size, nearest);

pub(crate) struct Query;

#[graph_object(context = Context)]
impl Query {
    fn hero(context: &Context) -> Result<BeingValue, GraphError> {
        context.host().now_or_fail("Query.hero", 0, &[])
    }
    fn everybody(context: &Context) -> Option<Human> {
        context.host().now("Query.everybody", 0, &[])
    }
    fn one_of_them(context: &Context) -> Option<Vec<Option<Vec<Hit>>>> {
        context.host().now("Query.oneOfThem", 0, &[])
    }
    fn ships(context: &Context) -> Vec<PlaceValue> {
        context.host().now("Query.ships", 0, &[])
    }
    fn answer_to_all(context: &Context) -> Option<Vec<Vec<String>>> {
        context.host().now("Query.answerToAll", 0, &[])
    }
    fn marks(context: &Context) -> Option<Mark> {
        context.host().now("Query.marks", 0, &[])
    }
    fn any_droid(context: &Context) -> Droid {
        context.host().now("Query.anyDroid", 0, &[])
    }
    async fn any_ship(context: &Context) -> Vec<Ship> {
        context.host().later("Query.anyShip", 0, &[]).await
    }
    fn any_planet(context: &Context) -> Result<Planet, GraphError> {
        context.host().now_or_fail("Query.anyPlanet", 0, &[])
    }
}

pub(crate) struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    async fn add_one(context: &Context, first: Option<Filter>, by_what: Vec<f64>) -> Option<Colour> {
        context.host().change().await;
        context
            .host()
            .later("Mutation.addOne", 0, &[&first, &by_what])
            .await
    }
    async fn rename(
        context: &Context,
        #[graphql(default = 2.5)] first: f64,
        #[graphql(default = Some(true))] by_what: Option<bool>,
        deep_filter: Filter,
    ) -> Option<Vec<Option<Mark>>> {
        context.host().change().await;
        context
            .host()
            .later("Mutation.rename", 0, &[&first, &by_what, &deep_filter])
            .await
    }
    async fn remove_all(context: &Context) -> Vec<Planet> {
        context.host().change().await;
        context.host().later("Mutation.removeAll", 0, &[]).await
    }
}
