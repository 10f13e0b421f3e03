//! Subscriptions.

use std::pin::Pin;

use futures::{Stream, StreamExt as _, stream};
use juniper::{FieldError, ID, graphql_subscription, graphql_value};

use crate::context::Context;
use crate::interfaces::TimelineItem;
use crate::issues::Issue;

type Events<T> = Pin<Box<dyn Stream<Item = Result<T, FieldError>> + Send>>;

/// Root of subscriptions.
pub struct Subscription;

#[graphql_subscription]
#[graphql(context = Context)]
impl Subscription {
    /// Issues of a project, as they change.
    async fn issue_changed(context: &Context, project: ID) -> Events<Issue> {
        let number = project
            .strip_prefix('P')
            .and_then(|digits| digits.parse::<i32>().ok());
        let rows = context
            .store
            .issues()
            .into_iter()
            .filter(move |row| Some(row.project) == number);
        stream::iter(rows.map(|row| Ok(Issue(row))).collect::<Vec<_>>()).boxed()
    }

    async fn count_down(#[graphql(default = 3)] from: i32) -> Pin<Box<dyn Stream<Item = i32> + Send>> {
        stream::iter((0..from).rev()).boxed()
    }

    /// Entries of an issue's history; the second entry fails.
    async fn timeline(context: &Context, issue: ID) -> Result<Events<TimelineItem>, FieldError> {
        let row = context.store.issue(Issue::number(&issue)?).await?;
        let Some(row) = row else {
            return Err(FieldError::new(
                "no such issue",
                graphql_value!({ "code": "NOT_FOUND" }),
            ));
        };
        let comments = context.store.comments(row.id).into_iter();
        let comments = comments
            .map(crate::issues::Comment)
            .map(TimelineItem::Comment)
            .map(Ok);
        let lost = FieldError::new("event lost", graphql_value!({ "code": "EVENT_LOST" }));
        Ok(stream::iter(comments.take(1).chain([Err(lost)]).collect::<Vec<_>>()).boxed())
    }
}
