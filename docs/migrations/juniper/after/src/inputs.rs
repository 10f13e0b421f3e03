//! Input objects.

use chrono::{DateTime, Utc};
use juniper::{GraphQLInputObject, ID, Nullable};

use crate::enums::{Direction, IssueOrder, IssueState, Priority, Visibility};
use crate::scalars::{ByteSize, Colour, EmailAddress, Markdown};

/// Issue to create.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct NewIssue {
    /// Id of the project.
    pub project: ID,
    pub title: String,
    #[graphql(default = "no description")]
    pub body: String,
    #[graphql(default = Priority::Normal)]
    pub priority: Priority,
    #[graphql(default)]
    pub labels: Vec<ID>,
    pub assignee: Option<ID>,
    pub estimate: Option<f64>,
    #[graphql(default = false)]
    pub is_locked: bool,
}

/// Changes of an issue: an absent field stays, null clears it.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct IssueChanges {
    pub title: Option<String>,
    pub body: Option<Markdown>,
    pub state: Option<IssueState>,
    pub priority: Option<Priority>,
    #[graphql(default)]
    pub assignee: Nullable<ID>,
    #[graphql(default)]
    pub estimate: Nullable<f64>,
}

/// Interval of time.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct Period {
    pub from: Option<DateTime<Utc>>,
    pub to: Option<DateTime<Utc>>,
}

/// Filter of issues.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct IssueFilter {
    #[graphql(default = vec![IssueState::Open, IssueState::InProgress])]
    pub states: Vec<IssueState>,
    pub priority: Option<Priority>,
    pub author: Option<ID>,
    pub text: Option<String>,
    pub created: Option<Period>,
    #[graphql(name = "withLabels")]
    pub labels: Option<Vec<ID>>,
    #[graphql(ignore)]
    pub is_cached: bool,
}

/// Order of a list of issues.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct Order {
    #[graphql(default = IssueOrder::CreatedAt)]
    pub by: IssueOrder,
    #[graphql(default = Direction::asc)]
    pub direction: Direction,
}

/// Project to create.
#[derive(Clone, Debug, GraphQLInputObject)]
#[graphql(name = "ProjectInput", rename_all = "camelCase")]
pub struct NewProject {
    pub slug: String,
    pub title: String,
    #[graphql(default = Visibility::Private)]
    pub visibility: Visibility,
    #[graphql(default = 30)]
    pub retention_days: i32,
    pub quota: Option<ByteSize>,
    pub first_label: Option<NewLabel>,
}

/// Label to create.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct NewLabel {
    pub name: String,
    pub colour: Colour,
}

/// Invitation to a project.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct Invitation {
    pub address: EmailAddress,
    #[graphql(default = 7)]
    pub days: i32,
    pub message: Option<Markdown>,
}

/// Work that was done on an issue.
#[derive(Clone, Debug, GraphQLInputObject)]
pub struct NewWorklog {
    pub issue: ID,
    pub minutes: i32,
    pub day: Option<chrono::NaiveDate>,
    pub token: Option<uuid::Uuid>,
}
