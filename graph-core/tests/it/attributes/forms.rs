//! Schema with every form that the attributes support, and with types named like those of the
//! runtime.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt as _};
use graph_core::{GraphEnum, GraphError, RequestContext, graph_object, graph_subscription};
use juniper::{FieldResult, GraphQLEnum, GraphQLInputObject, GraphQLScalar, ID, Nullable};

use super::families::{Everywhere, Found, Legacy, NodeValue, Robot, Team, Teams, team};

pub(crate) type Context = RequestContext<Host>;
type GraphResult<T> = Result<T, GraphError>;

pub(crate) struct Host {
    greeting: String,
    part: Part,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self {
            greeting: "hello".to_owned(),
            part: Part(5),
        }
    }
}

/// Name that the runtime also uses.
pub(crate) struct Field;
#[derive(Clone)]
pub(crate) struct Path;
#[derive(Clone)]
pub(crate) struct Plain;

/// Part of the context.
pub(crate) struct Part(i32);

impl juniper::FromContext<Context> for Part {
    fn from(context: &Context) -> &Self {
        &context.host().part
    }
}

#[derive(Clone, Copy, GraphQLEnum, GraphEnum)]
pub(crate) enum Mood {
    VeryGood,
    #[graphql(name = "poor")]
    Bad,
    #[graphql(ignore)]
    #[expect(dead_code, reason = "no resolver returns it")]
    Hidden(i32),
}

#[derive(Clone, Copy, GraphQLEnum)]
pub(crate) enum Weather {
    Sunny,
}

#[derive(Clone, GraphQLInputObject)]
struct Filter {
    #[graphql(default = 7)]
    minimum: i32,
    word: Option<String>,
}

#[derive(Debug)]
struct OwnError;

impl<S: juniper::ScalarValue> juniper::IntoFieldError<S> for OwnError {
    fn into_field_error(self) -> juniper::FieldError<S> {
        "own".into()
    }
}

// ---- objects

#[graph_object]
impl Field {
    fn id(&self) -> i32 {
        1
    }

    // names used by generated code
    fn field(&self) -> i32 {
        2
    }

    fn write(field: i32, cx: i32, path: i32, out: i32, value: i32) -> i32 {
        field + cx + path + out + value
    }

    async fn register(&self, indices: Option<i32>, arguments: Option<i32>) -> i32 {
        indices.or(arguments).unwrap_or(3)
    }
}

#[graph_object(context = Context)]
impl Path {
    fn length(&self) -> i32 {
        2
    }
}

/// Custom scalar.
#[derive(Clone, GraphQLScalar)]
#[graphql(transparent)]
pub(crate) struct Cents(i32);

/// Generic type with one GraphQL name per parameter.
pub(crate) struct Pair<T>(T, T);

#[graph_object(context = Context, name = "PathPair")]
impl Pair<Path> {
    fn both(&self) -> [&Path; 2] {
        [&self.0, &self.1]
    }

    async fn second(&self) -> &Path {
        &self.1
    }
}

#[graph_object(context = Context, name = "Flat")]
impl Plain {
    fn height() -> f64 {
        0.5
    }
}

pub(crate) struct User<'a> {
    pub(super) name: &'a str,
}

#[graph_object(context = Context, description = "a person")]
impl<'a> User<'a> {
    fn id(&self) -> ID {
        ID::new("u")
    }

    fn name(&self) -> &'a str {
        self.name
    }

    async fn slow_name(&self) -> &str {
        tokio::task::yield_now().await;
        self.name
    }

    fn again<'c>(&self, context: &'c Context) -> Result<&'c str, OwnError> {
        Ok(&context.host().greeting)
    }

    fn greeting(context: &Context) -> Option<&str> {
        Some(&context.host().greeting)
    }

    async fn part(&self, #[graphql(context)] part: &Part) -> i32 {
        part.0
    }

    fn mood(&self) -> Result<Mood, OwnError> {
        Ok(Mood::VeryGood)
    }

    fn weather() -> Option<Weather> {
        Some(Weather::Sunny)
    }

    fn moods() -> GraphResult<Vec<Option<Mood>>> {
        Ok(vec![Some(Mood::Bad), None])
    }

    async fn friends(
        &self,
        #[graphql(default = 2)] first: i32,
        filter: Option<Filter>,
    ) -> GraphResult<Vec<Self>> {
        let more = filter.map_or(0, |filter| filter.minimum + i32::from(filter.word.is_some()));
        Ok((0..first + more).map(|_| User { name: self.name }).collect())
    }

    fn boxed(&self, #[graphql(name = "in")] _place: ID) -> Box<User<'static>> {
        Box::new(User { name: "boxed" })
    }

    fn shared() -> Arc<Path> {
        Arc::new(Path)
    }

    fn slice(&self) -> &[Path] {
        &[Path, Path]
    }

    #[deprecated(note = "old")]
    fn old(&self) -> i32 {
        3
    }

    #[deprecated = "in one word"]
    fn older(&self) -> i32 {
        3
    }

    #[deprecated(since = "1.0.0", note = "with a version")]
    fn oldest(&self) -> i32 {
        3
    }

    #[graphql(ignore)]
    #[expect(dead_code, reason = "no field")]
    fn helper(&mut self, _: &str) {}

    #[graphql(name = "kind", deprecated = "older")]
    fn r#type(&self, r#in: Option<Vec<i32>>) -> FieldResult<i32> {
        Ok(r#in.map_or(0, |list| list.into_iter().sum()))
    }

    // ---- guarded

    /// the address
    #[graph(scope = "read:email")]
    fn email(&self) -> Option<&str> {
        Some("ada@example.com")
    }

    #[graph(role = "owner")]
    #[graphql(name = "secretNumber", description = "a number")]
    async fn secret(&self, _ctx: &Context, #[graphql(default = 4)] times: i32) -> GraphResult<Option<i32>> {
        Ok(Some(times * 10))
    }

    #[graph(authenticated)]
    fn viewer(context: &Context) -> Option<&str> {
        context.principal().map(graph_core::Principal::subject)
    }

    #[graph(scope = "read:email")]
    #[deprecated = "guarded"]
    fn older_email() -> Option<i32> {
        None
    }

    #[graph(scope = "read:email")]
    #[deprecated]
    fn old_email<'c>(
        &self,
        context: &'c Context,
        #[graphql(name = "at")] _at: Option<i32>,
    ) -> FieldResult<&'c str> {
        Ok(&context.host().greeting)
    }

    fn legacy(&self) -> Legacy {
        Legacy { year: 1999 }
    }
}

pub(crate) struct Observer;

#[graph_object(context = Context, scalar = juniper::DefaultScalarValue)]
impl Observer {
    fn executed(&self) -> bool {
        true
    }

    #[graph(scope = "read:legacy")]
    fn guarded_legacy(&self) -> Option<Legacy> {
        Some(Legacy { year: 13 })
    }
}

pub(crate) struct Query;

#[graph_object(context = Context, scalar = juniper::DefaultScalarValue)]
impl Query {
    fn user() -> User<'static> {
        User { name: "ada" }
    }

    fn team() -> Option<Team> {
        Some(team())
    }

    fn found() -> Vec<Found> {
        vec![
            Found::Person(User { name: "ada" }),
            Found::Group(team()),
            Found::Path(Box::new(Path)),
        ]
    }

    async fn node(team_instead: Option<bool>) -> NodeValue {
        tokio::task::yield_now().await;
        if team_instead == Some(true) {
            team().into()
        } else {
            Robot.into()
        }
    }

    fn titled() -> Vec<Teams> {
        vec![team().into(), Robot.into()]
    }

    fn everywhere() -> Everywhere {
        let again = Box::new(Everywhere { id: 2, again: None });
        Everywhere {
            id: 1,
            again: Some(again),
        }
    }

    fn fields() -> [Field; 2] {
        [Field, Field]
    }

    fn flat() -> Plain {
        Plain
    }

    fn observer() -> Observer {
        Observer
    }

    fn pair() -> Pair<Path> {
        Pair(Path, Path)
    }

    fn change(value: Nullable<i32>) -> String {
        match value {
            Nullable::ImplicitNull => "kept".to_owned(),
            Nullable::ExplicitNull => "gone".to_owned(),
            Nullable::Some(value) => value.to_string(),
        }
    }

    async fn cents(of: Vec<Cents>) -> GraphResult<Vec<Option<Cents>>> {
        Ok(of.into_iter().map(Some).chain([None]).collect())
    }

    fn cent() -> Cents {
        Cents(1)
    }

    async fn never() -> Option<i32> {
        std::future::pending().await
    }
}

type Users = Pin<Box<dyn Stream<Item = GraphResult<User<'static>>> + Send>>;

pub(crate) struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn joined(#[graphql(default = 2)] count: i32) -> Result<Users, GraphError> {
        Ok(stream::iter((0..count).map(|_| Ok(User { name: "new" }))).boxed())
    }

    async fn ticks(&self) -> Pin<Box<dyn Stream<Item = i32> + Send>> {
        stream::iter(0..3).boxed()
    }

    #[graph(scope = "read:users")]
    async fn guarded(&self, count: i32) -> GraphResult<Users> {
        Ok(stream::iter((0..count).map(|_| Ok(User { name: "new" }))).boxed())
    }

    #[graph(scope = "read:legacy")]
    async fn guarded_legacy(_context: &Context, year: i32) -> Pin<Box<dyn Stream<Item = Legacy> + Send>> {
        stream::iter([Legacy { year }]).boxed()
    }

    async fn legacy() -> Pin<Box<dyn Stream<Item = Legacy> + Send>> {
        stream::iter([Legacy { year: 1 }]).boxed()
    }
}
