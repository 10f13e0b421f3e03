//! Objects, an interface in both forms, and a union.

use graph_core::{GraphObject, graph_interface, graph_object, graph_union};
use juniper::ID;

use super::forms::{Context, Field, Mood, Path, User, Weather};

#[derive(GraphObject)]
pub(crate) struct Legacy {
    pub(super) year: i32,
}

#[derive(GraphObject)]
#[graphql(context = Context, name = "TheTeam", impl = [NodeValue, Teams])]
pub(crate) struct Team {
    id: ID,
    code: Option<i32>,
    team_name: String,
    members: Vec<User<'static>>,
    mood: Mood,
    weather: Weather,
    #[graphql(name = "leader")]
    lead: Option<Box<Path>>,
    legacy: Legacy,
    #[graphql(ignore)]
    #[expect(dead_code, reason = "no field")]
    hidden: Field,
}

/// Object without a context, usable in every schema.
#[derive(GraphObject)]
pub(crate) struct Everywhere {
    pub(super) id: i32,
    pub(super) again: Option<Box<Self>>,
}

pub(crate) struct Robot;

#[graph_object(context = Context, impl = [NodeValue, Teams])]
impl Robot {
    fn id(&self) -> ID {
        ID::new("r")
    }

    async fn team_name() -> String {
        String::from("robots")
    }

    #[graph(role = "owner")]
    fn code(&self) -> Option<i32> {
        Some(4711)
    }
}

#[graph_interface(for = [Robot, Team], context = Context, name = "Node")]
pub(crate) trait Node {
    fn id(&self) -> ID;
    #[deprecated = "ask support"]
    fn code(&self) -> Option<i32>;
}

#[graph_interface(for = [Team, Robot])]
#[graphql(context = Context, enum = Teams)]
pub(crate) struct Titled {
    #[deprecated = "teams have titles"]
    team_name: String,
}

#[graph_union(context = Context)]
pub(crate) enum Found {
    Person(User<'static>),
    Group(Team),
    Path(Box<Path>),
}

pub(super) fn team() -> Team {
    Team {
        id: ID::new("t"),
        code: None,
        team_name: "core".to_owned(),
        members: vec![User { name: "ada" }, User { name: "bob" }],
        mood: Mood::Bad,
        weather: Weather::Sunny,
        lead: Some(Box::new(Path)),
        legacy: Legacy { year: 2001 },
        hidden: Field,
    }
}
