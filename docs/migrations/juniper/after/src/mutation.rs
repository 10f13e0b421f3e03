//! Mutations.

use graph_core::{GraphObject, graph_object, graph_union};
use juniper::{FieldError, FieldResult, ID, Nullable, graphql_value};

use crate::context::Context;
use crate::enums::{IssueState, Resolution};
use crate::errors::Refusal;
use crate::inputs::{Invitation, IssueChanges, NewIssue, NewLabel, NewProject, NewWorklog};
use crate::issues::{Comment, Issue, Worklog};
use crate::projects::{Label, Project};
use crate::scalars::Markdown;
use crate::store::{IssueRow, day};

/// Root of mutations.
pub struct Mutation;

/// Input that was refused, as data.
#[derive(Debug, GraphObject)]
pub struct InvalidInput {
    pub field: String,
    pub message: String,
}

/// Result of `createIssue`.
#[graph_union]
#[graphql(context = Context)]
pub enum CreatedIssue {
    Issue(Issue),
    InvalidInput(InvalidInput),
}

fn viewer(context: &Context) -> Result<i32, Refusal> {
    context.host().viewer.ok_or(Refusal::NotSignedIn)
}

fn number(id: &ID, prefix: &str, kind: &'static str) -> Result<i32, Refusal> {
    let number = id.strip_prefix(prefix).and_then(|digits| digits.parse().ok());
    number.ok_or(Refusal::NoSuch(kind))
}

#[graph_object]
#[graphql(context = Context)]
impl Mutation {
    async fn create_issue(context: &Context, input: NewIssue) -> Result<CreatedIssue, Refusal> {
        let author = viewer(context)?;
        if input.title.trim().is_empty() {
            let (field, message) = ("title".to_owned(), "is empty".to_owned());
            return Ok(CreatedIssue::InvalidInput(InvalidInput { field, message }));
        }
        let project = number(&input.project, "P", "project")?;
        let assignee = input
            .assignee
            .as_ref()
            .map(|id| number(id, "U", "person"))
            .transpose()?;
        let labels = input.labels.iter().map(|id| number(id, "L", "label"));
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let row = context.host().store.add_issue(|id| IssueRow {
            id,
            project,
            title: input.title,
            body: input.body,
            state: IssueState::Open,
            priority: input.priority,
            resolution: None,
            author,
            assignee,
            labels,
            milestone: None,
            estimate: input.estimate,
            is_locked: input.is_locked,
            created: day(61),
        });
        Ok(CreatedIssue::Issue(Issue(row)))
    }

    async fn change_issue(context: &Context, id: ID, changes: IssueChanges) -> FieldResult<Option<Issue>> {
        viewer(context)?;
        let number = Issue::number(&id)?;
        let assignee = match &changes.assignee {
            Nullable::Some(id) => Nullable::Some(id.strip_prefix('U').unwrap_or_default().parse::<i32>()?),
            Nullable::ExplicitNull => Nullable::ExplicitNull,
            Nullable::ImplicitNull => Nullable::ImplicitNull,
        };
        let row = context.host().store.change(number, |row| {
            row.title = changes.title.unwrap_or_else(|| row.title.clone());
            row.body = changes
                .body
                .map_or_else(|| row.body.clone(), |Markdown(text)| text);
            row.state = changes.state.unwrap_or(row.state);
            row.priority = changes.priority.unwrap_or(row.priority);
            match assignee {
                Nullable::Some(assignee) => row.assignee = Some(assignee),
                Nullable::ExplicitNull => row.assignee = None,
                Nullable::ImplicitNull => {}
            }
            match changes.estimate {
                Nullable::Some(estimate) => row.estimate = Some(estimate),
                Nullable::ExplicitNull => row.estimate = None,
                Nullable::ImplicitNull => {}
            }
        });
        Ok(row.map(Issue))
    }

    async fn close_issue(
        context: &Context,
        id: ID,
        #[graphql(default = Resolution::Fixed)] resolution: Resolution,
    ) -> FieldResult<Issue> {
        let number = Issue::number(&id)?;
        let row = context.host().store.change(number, |row| {
            row.state = IssueState::Closed;
            row.resolution = Some(resolution);
        });
        row.map(Issue).ok_or_else(|| {
            FieldError::new(
                "no such issue",
                graphql_value!({ "code": "NOT_FOUND", "id": (id.to_string()) }),
            )
        })
    }

    fn add_comment(context: &Context, issue: ID, body: Markdown) -> Result<Option<Comment>, Refusal> {
        let author = viewer(context)?;
        let issue = Issue::number(&issue)?;
        match issue {
            7 => Err(Refusal::Locked { issue }),
            issue => Ok(Some(Comment(
                context.host().store.add_comment(issue, author, body.0),
            ))),
        }
    }

    fn create_project(context: &Context, input: NewProject) -> FieldResult<Project> {
        viewer(context)?;
        if input.retention_days < 1 {
            return Err("retention is too short".into());
        }
        Ok(Project {
            number: 4,
            title: input.title,
            visibility: input.visibility,
        })
    }

    fn create_label(input: NewLabel) -> Label {
        Label {
            id: ID::new("L9"),
            name: input.name,
            colour: input.colour,
            description: None,
            is_default: false,
        }
    }

    fn invite(input: Invitation) -> FieldResult<bool> {
        match input.days {
            0 => Err("an invitation lasts at least a day")?,
            _ => Ok(input.message.is_none()),
        }
    }

    fn log_work(input: NewWorklog) -> Option<Worklog> {
        let number = Issue::number(&input.issue).ok()?;
        Some(Worklog::find(number, input.minutes / 45))
    }
}
