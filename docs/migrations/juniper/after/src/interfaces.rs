//! Interfaces and unions.

use chrono::{DateTime, Utc};
use graph_core::{graph_interface, graph_union};
use juniper::ID;

use crate::code::{Commit, PullRequest};
use crate::context::Context;
use crate::issues::{Assignment, Comment, Issue, LabelChange, StateChange};
use crate::people::{Bot, Organization, Team, User};
use crate::projects::{Label, Milestone, Project};

/// Object with a global id.
#[graph_interface]
#[graphql(
    for = [ActorValue, User, Bot, Organization, Team, Project, Label, Milestone, Issue, Comment, PullRequest],
    context = Context
)]
pub trait Node {
    fn id(&self) -> ID;
}

/// Person or program that acts.
#[graph_interface]
#[graphql(for = [User, Bot, Organization], impl = NodeValue, context = Context)]
pub trait Actor {
    fn id(&self) -> ID;

    /// Name for signing in.
    fn login(&self) -> String;

    fn avatar_url(&self, size: Option<i32>) -> String;

    async fn display_name(&self) -> String;
}

/// Object that keeps its times.
#[graph_interface]
#[graphql(for = [Issue, Comment, PullRequest, Project], context = Context)]
pub struct Timestamped {
    created_at: DateTime<Utc>,
    updated_at: Option<DateTime<Utc>>,
}

/// Object that people comment on.
#[graph_interface]
#[graphql(for = [Issue, PullRequest], context = Context, enum = CommentableObject)]
pub trait Commentable {
    fn comments(&self, #[graphql(default = 10)] first: i32) -> Vec<Comment>;

    fn comment_count(&self) -> i32;
}

/// Result of a search.
#[graph_union]
#[graphql(context = Context)]
pub enum SearchResult {
    Issue(Issue),
    Project(Project),
    User(Box<User>),
    Commit(Commit),
}

/// Entry of an issue's history.
#[graph_union]
#[graphql(context = Context, name = "TimelineEntry", description = "Event in the history of an issue.")]
pub enum TimelineItem {
    Comment(Comment),
    StateChange(StateChange),
    Assignment(Assignment),
    LabelChange(LabelChange),
}

/// Owner of a project.
#[graph_union]
#[graphql(context = Context)]
pub enum Owner {
    User(User),
    Organization(Organization),
}
