//! Queries.

use juniper::{Executor, FieldResult, ID, ScalarValue, graphql_object};

use crate::admin::Viewer;
use crate::code::Commit;
use crate::context::Context;
use crate::enums::{IssueState, Priority};
use crate::errors::Refusal;
use crate::inputs::{IssueFilter, Order, Period};
use crate::interfaces::{ActorValue, CommentableObject, NodeValue, SearchResult, TimestampedValue};
use crate::issues::{Issue, select};
use crate::page::Page;
use crate::people::{Bot, Organization, Team, User};
use crate::projects::{Label, Milestone, Project};
use crate::scalars::{Colour, EmailAddress};

/// Root of queries.
pub struct Query;

#[graphql_object]
#[graphql(context = Context, scalar = S: ScalarValue)]
impl Query {
    fn version() -> &'static str {
        "4.2"
    }

    fn viewer(context: &Context) -> FieldResult<Option<Viewer>> {
        let viewer = context.viewer.ok_or("sign in first")?;
        Ok(Some(Viewer(User {
            number: viewer,
            login: "ada".to_owned(),
        })))
    }

    async fn node(context: &Context, id: ID) -> FieldResult<Option<NodeValue>> {
        let number = |prefix: &str| {
            id.strip_prefix(prefix)
                .and_then(|digits| digits.parse::<i32>().ok())
        };
        if let Some(number) = number("U") {
            return Ok(User::load(context, number).await.map(NodeValue::User));
        }
        if let Some(number) = number("I") {
            return Ok(context
                .store
                .issue(number)
                .await?
                .map(Issue)
                .map(NodeValue::Issue));
        }
        Ok(
            match (
                number("P"),
                number("B"),
                number("O"),
                number("T"),
                number("L"),
                number("M"),
            ) {
                (Some(number), ..) => Some(Project::find(number).into()),
                (_, Some(number), ..) => Some(Bot { number }.into()),
                (_, _, Some(number), ..) => Some(Organization { number }.into()),
                (_, _, _, Some(number), ..) => Some(Team { number }.into()),
                (_, _, _, _, Some(number), _) => Some(Label::find(number).into()),
                (.., Some(number)) => Some(Milestone { number }.into()),
                _ => None,
            },
        )
    }

    async fn user(context: &Context, login: Option<String>, id: Option<ID>) -> FieldResult<Option<User>> {
        let people = context.store.people(&[1, 2, 3, 4]).await.into_iter();
        let mut people = people.map(|(number, login)| User { number, login });
        match (login, id) {
            (Some(login), None) => Ok(people.find(|user| user.login == login)),
            (None, Some(id)) => Ok(people.find(|user| *id == *format!("U{}", user.number))),
            _ => Err("pass `login` or `id`".into()),
        }
    }

    async fn users(
        context: &Context,
        #[graphql(default = 2)] first: i32,
        after: Option<String>,
    ) -> FieldResult<Page<User>> {
        let people = context.store.people(&[1, 2, 3, 4]).await.into_iter();
        let people = people.map(|(number, login)| User { number, login });
        Page::new(people.collect(), first, after.as_deref())
    }

    fn organization(id: ID) -> Option<Organization> {
        (*id == *"O1").then_some(Organization { number: 1 })
    }

    fn project(slug: String) -> Result<Project, Refusal> {
        let number = slug
            .strip_prefix("project-")
            .and_then(|number| number.parse().ok());
        number
            .filter(|number| (1..=3).contains(number))
            .map(Project::find)
            .ok_or(Refusal::NoSuch("project"))
    }

    fn projects(#[graphql(default = 3)] first: i32) -> Vec<Project> {
        (1..=first).map(Project::find).collect()
    }

    async fn issue(context: &Context, id: ID) -> FieldResult<Option<Issue>> {
        Issue::load(context, &id).await
    }

    /// Issues of all projects. Loads the people of all issues at once if the client selects them.
    async fn issues<S: ScalarValue>(
        executor: &Executor<'_, '_, Context, S>,
        filter: Option<IssueFilter>,
        order: Option<Order>,
    ) -> FieldResult<Vec<Issue>, S> {
        let ahead = executor.look_ahead();
        let selected = ahead.children();
        if selected.has_child("author") || selected.has_child("assignee") {
            executor.context().store.people(&[1, 2, 3, 4]).await;
        }
        let order = order.unwrap_or(Order {
            by: crate::enums::IssueOrder::CreatedAt,
            direction: crate::enums::Direction::asc,
        });
        Ok(select(
            executor.context().store.issues(),
            filter.as_ref(),
            &order,
        )?)
    }

    fn search(context: &Context, text: String, #[graphql(default = 10)] first: i32) -> Vec<SearchResult> {
        let issues = context
            .store
            .issues()
            .into_iter()
            .filter(|row| row.title.contains(&text))
            .map(Issue);
        let mut found: Vec<_> = issues.take(2).map(SearchResult::Issue).collect();
        found.push(SearchResult::Project(Project::find(1)));
        found.push(SearchResult::User(Box::new(User {
            number: 2,
            login: "bob".to_owned(),
        })));
        found.push(SearchResult::Commit(Commit::find(2)));
        found.truncate(first.max(0) as usize);
        found
    }

    fn actors() -> Vec<ActorValue> {
        vec![
            User {
                number: 3,
                login: "cyd".to_owned(),
            }
            .into(),
            Bot { number: 1 }.into(),
            Organization { number: 1 }.into(),
        ]
    }

    fn recent(context: &Context) -> Vec<TimestampedValue> {
        let mut recent: Vec<TimestampedValue> = vec![Project::find(2).into()];
        recent.extend(
            context
                .store
                .issues()
                .into_iter()
                .take(1)
                .map(|row| Issue(row).into()),
        );
        recent
    }

    fn discussions(context: &Context) -> Vec<CommentableObject> {
        let issues = context
            .store
            .issues()
            .into_iter()
            .take(2)
            .map(|row| Issue(row).into());
        issues
            .chain([crate::code::PullRequest { number: 1 }.into()])
            .collect()
    }

    fn labels(#[graphql(name = "in")] colours: Option<Vec<Colour>>) -> Vec<Label> {
        let labels = (1..=3).map(Label::find);
        labels
            .filter(|label| {
                colours
                    .as_ref()
                    .is_none_or(|colours| colours.contains(&label.colour))
            })
            .collect()
    }

    fn is_known(address: EmailAddress) -> bool {
        address == EmailAddress::new("ada@example.org")
    }

    /// Number of issues by priority: the argument has a default that is an object.
    fn count(
        context: &Context,
        #[graphql(default = vec![Priority::High, Priority::Urgent])] priorities: Vec<Priority>,
        state: Option<IssueState>,
        period: Option<Period>,
    ) -> i32 {
        let rows = context.store.issues().into_iter();
        let rows = rows.filter(|row| priorities.contains(&row.priority));
        let rows = rows.filter(|row| state.is_none_or(|state| state == row.state));
        let from = period.and_then(|period| period.from);
        rows.filter(|row| from.is_none_or(|from| row.created >= from))
            .count() as i32
    }
}
