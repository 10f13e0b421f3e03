//! Interfaces and unions.

use chrono::{DateTime, Utc};
use juniper::{GraphQLUnion, ID, graphql_interface, graphql_union};

use crate::code::{Commit, PullRequest};
use crate::context::Context;
use crate::issues::{Assignment, Comment, Issue, LabelChange, StateChange};
use crate::people::{Bot, Organization, Team, User};
use crate::projects::{Label, Milestone, Project};

/// Object with a global id.
#[graphql_interface]
#[graphql(
    for = [ActorValue, User, Bot, Organization, Team, Project, Label, Milestone, Issue, Comment, PullRequest],
    context = Context
)]
pub trait Node {
    fn id(&self) -> ID;
}

/// Person or program that acts.
#[graphql_interface]
#[graphql(for = [User, Bot, Organization], impl = NodeValue, context = Context)]
pub trait Actor {
    fn id(&self) -> ID;

    /// Name for signing in.
    fn login(&self) -> String;

    fn avatar_url(&self, size: Option<i32>) -> String;

    async fn display_name(&self) -> String;
}

/// Object that keeps its times.
#[graphql_interface]
#[graphql(for = [Issue, Comment, PullRequest, Project], context = Context)]
pub struct Timestamped {
    created_at: DateTime<Utc>,
    updated_at: Option<DateTime<Utc>>,
}

/// Object that people comment on.
#[graphql_interface]
#[graphql(for = [Issue, PullRequest], context = Context, enum = CommentableObject)]
pub trait Commentable {
    fn comments(&self, #[graphql(default = 10)] first: i32) -> Vec<Comment>;

    fn comment_count(&self) -> i32;
}

/// Result of a search.
#[derive(GraphQLUnion)]
#[graphql(context = Context)]
pub enum SearchResult {
    Issue(Issue),
    Project(Project),
    User(Box<User>),
    Commit(Commit),
}

/// Entry of an issue's history.
#[derive(GraphQLUnion)]
#[graphql(context = Context, name = "TimelineEntry", description = "Event in the history of an issue.")]
pub enum TimelineItem {
    Comment(Comment),
    StateChange(StateChange),
    Assignment(Assignment),
    LabelChange(LabelChange),
}

/// Owner of a project.
#[graphql_union]
#[graphql(context = Context)]
pub trait Owner {
    fn as_user(&self) -> Option<&User>;

    fn as_organization(&self) -> Option<&Organization>;
}

impl Owner for User {
    fn as_user(&self) -> Option<&User> {
        Some(self)
    }

    fn as_organization(&self) -> Option<&Organization> {
        None
    }
}

impl Owner for Organization {
    fn as_user(&self) -> Option<&User> {
        None
    }

    fn as_organization(&self) -> Option<&Organization> {
        Some(self)
    }
}

/// Owner of a project, as resolvers return it.
pub type DynOwner<'a> = dyn Owner + Send + Sync + 'a;
