//! Issues and what hangs on them.

use chrono::{DateTime, NaiveDate, Utc};
use juniper::{FieldResult, GraphQLObject, ID, graphql_object};

use crate::context::Context;
use crate::enums::{Direction, IssueOrder, IssueState, Priority, Resolution};
use crate::errors::Refusal;
use crate::inputs::{IssueFilter, Order};
use crate::interfaces::{CommentableObject, NodeValue, TimelineItem, TimestampedValue};
use crate::people::User;
use crate::projects::{Label, Milestone, Project};
use crate::scalars::{ByteSize, Markdown, WorkTime};
use crate::store::{CommentRow, IssueRow, day};

/// Something to do.
#[derive(Clone, Debug)]
pub struct Issue(pub IssueRow);

impl Issue {
    /// Reads the number of an id such as `I7`.
    pub fn number(id: &ID) -> Result<i32, Refusal> {
        let digits = id.strip_prefix('I');
        digits
            .and_then(|digits| digits.parse().ok())
            .ok_or(Refusal::NoSuch("issue"))
    }

    pub async fn load(context: &Context, id: &ID) -> FieldResult<Option<Self>> {
        let row = context.store.issue(Self::number(id)?).await?;
        Ok(row.map(Self))
    }
}

#[graphql_object]
#[graphql(context = Context, impl = [NodeValue, TimestampedValue, CommentableObject])]
impl Issue {
    fn id(&self) -> ID {
        ID::new(format!("I{}", self.0.id))
    }

    fn number_in_project(&self) -> i32 {
        self.0.id
    }

    fn title(&self) -> &str {
        &self.0.title
    }

    fn body(&self) -> Markdown {
        Markdown(self.0.body.clone())
    }

    /// First words of the body.
    fn excerpt(
        &self,
        #[graphql(default = 10, description = "Maximum number of characters.")] length: i32,
    ) -> String {
        self.0.body.chars().take(length.max(0) as usize).collect()
    }

    fn state(&self) -> IssueState {
        self.0.state
    }

    fn priority(&self) -> Priority {
        self.0.priority
    }

    fn resolution(&self) -> Option<Resolution> {
        self.0.resolution
    }

    fn is_locked(&self) -> bool {
        self.0.is_locked
    }

    fn estimate(&self) -> Option<f64> {
        self.0.estimate
    }

    fn created_at(&self) -> DateTime<Utc> {
        self.0.created
    }

    fn updated_at(&self) -> Option<DateTime<Utc>> {
        (self.0.id % 2 == 0).then(|| day(50))
    }

    async fn author(&self, context: &Context) -> FieldResult<User> {
        let author = User::load(context, self.0.author).await;
        Ok(author.ok_or(Refusal::NoSuch("person"))?)
    }

    async fn assignee(&self, context: &Context) -> Option<User> {
        User::load(context, self.0.assignee?).await
    }

    fn project(&self) -> Project {
        Project::find(self.0.project)
    }

    fn labels(&self) -> Vec<Label> {
        self.0.labels.iter().copied().map(Label::find).collect()
    }

    fn milestone(&self) -> Option<Milestone> {
        self.0.milestone.map(|number| Milestone { number })
    }

    fn comments(&self, context: &Context, #[graphql(default = 10)] first: i32) -> Vec<Comment> {
        let rows = context.store.comments(self.0.id).into_iter();
        rows.take(first.max(0) as usize).map(Comment).collect()
    }

    fn comment_count(&self, context: &Context) -> i32 {
        context.store.comments(self.0.id).len() as i32
    }

    fn timeline(&self, context: &Context) -> Vec<TimelineItem> {
        let comments = context.store.comments(self.0.id).into_iter().map(Comment);
        let mut items: Vec<_> = comments.map(TimelineItem::Comment).collect();
        items.push(TimelineItem::StateChange(StateChange {
            at: day(30),
            from: IssueState::Open,
            to: self.0.state,
            reason: None,
        }));
        items.push(TimelineItem::Assignment(Assignment {
            at: day(31),
            user: self.0.assignee.unwrap_or(1),
        }));
        items.push(TimelineItem::LabelChange(LabelChange {
            at: day(32),
            label: Label::find(1),
            is_added: true,
        }));
        items
    }

    fn attachments(&self) -> Vec<Attachment> {
        (1..=self.0.id % 3).map(Attachment::find).collect()
    }

    fn reactions(&self) -> Vec<Reaction> {
        vec![Reaction {
            emoji: "👍".to_owned(),
            count: self.0.id,
            viewer_has_reacted: false,
        }]
    }

    fn worklogs(&self) -> Vec<Worklog> {
        (1..=2).map(|number| Worklog::find(self.0.id, number)).collect()
    }

    fn total_time(&self) -> WorkTime {
        WorkTime(self.0.id * 90)
    }

    /// True if the viewer may change the issue; fails for locked issues.
    fn can_edit(&self) -> Result<bool, Refusal> {
        match self.0.is_locked {
            true => Err(Refusal::Locked { issue: self.0.id }),
            false => Ok(true),
        }
    }

    fn duplicates(&self) -> Vec<Option<Box<Self>>> {
        vec![None]
    }

    fn checklist(&self) -> Option<Vec<Option<String>>> {
        Some(vec![Some("test".to_owned()), None])
    }

    #[graphql(name = "type", deprecated)]
    fn kind() -> &'static str {
        "issue"
    }
}

/// Text below an issue.
#[derive(Clone, Debug)]
pub struct Comment(pub CommentRow);

#[graphql_object(context = Context, impl = [NodeValue, TimestampedValue])]
impl Comment {
    fn id(&self) -> ID {
        ID::new(format!("C{}", self.0.id))
    }

    fn body(&self) -> Markdown {
        Markdown(self.0.text.clone())
    }

    fn created_at(&self) -> DateTime<Utc> {
        self.0.created
    }

    fn updated_at(&self) -> Option<DateTime<Utc>> {
        None
    }

    async fn author(&self, context: &Context) -> Option<User> {
        User::load(context, self.0.author).await
    }

    async fn issue(&self, context: &Context) -> FieldResult<Option<Issue>> {
        Ok(context.store.issue(self.0.issue).await?.map(Issue))
    }

    fn reactions(&self) -> Vec<Reaction> {
        Vec::new()
    }

    fn url(&self) -> String {
        format!("https://tracker.example/i/{}#c{}", self.0.issue, self.0.id)
    }
}

/// File of an issue.
#[derive(Clone, Debug, GraphQLObject)]
pub struct Attachment {
    pub id: ID,
    pub file_name: String,
    pub media_type: String,
    pub size: ByteSize,
    pub checksum: uuid::Uuid,
    pub uploaded_at: DateTime<Utc>,
}

impl Attachment {
    fn find(number: i32) -> Self {
        Self {
            id: ID::new(format!("A{number}")),
            file_name: format!("log \"{number}\".txt"),
            media_type: "text/plain".to_owned(),
            size: ByteSize(1 << (32 + number)),
            checksum: uuid::Uuid::from_u128(0xfeed + number as u128),
            uploaded_at: day(number),
        }
    }
}

/// Reaction with its number.
#[derive(Clone, Debug, GraphQLObject)]
pub struct Reaction {
    pub emoji: String,
    pub count: i32,
    pub viewer_has_reacted: bool,
}

/// Time that was spent.
#[derive(Clone, Debug, GraphQLObject)]
#[graphql(context = Context)]
pub struct Worklog {
    pub id: ID,
    pub time: WorkTime,
    pub day: NaiveDate,
    pub note: Option<Markdown>,
    pub person: User,
    pub is_billable: bool,
}

impl Worklog {
    pub fn find(issue: i32, number: i32) -> Self {
        Self {
            id: ID::new(format!("WL{issue}-{number}")),
            time: WorkTime(45 * number),
            day: day(number).date_naive(),
            note: None,
            person: User {
                number: 1,
                login: "ada".to_owned(),
            },
            is_billable: number == 1,
        }
    }
}

/// Change of an issue's state.
#[derive(Clone, Debug, GraphQLObject)]
#[graphql(context = Context)]
pub struct StateChange {
    pub at: DateTime<Utc>,
    pub from: IssueState,
    pub to: IssueState,
    pub reason: Option<String>,
}

/// Assignment of an issue.
#[derive(Clone, Debug)]
pub struct Assignment {
    at: DateTime<Utc>,
    user: i32,
}

#[graphql_object(context = Context)]
impl Assignment {
    fn at(&self) -> DateTime<Utc> {
        self.at
    }

    async fn user(&self, ctx: &Context) -> Option<User> {
        User::load(ctx, self.user).await
    }
}

/// Label that was added or removed.
#[derive(Clone, Debug, GraphQLObject)]
#[graphql(context = Context)]
pub struct LabelChange {
    pub at: DateTime<Utc>,
    pub label: Label,
    #[graphql(name = "added")]
    pub is_added: bool,
}

/// Issues that the filter selects, in the requested order.
pub fn select(
    rows: Vec<IssueRow>,
    filter: Option<&IssueFilter>,
    order: &Order,
) -> Result<Vec<Issue>, Refusal> {
    let mut rows = rows;
    if let Some(filter) = filter {
        let author = filter.author.as_ref().map(|id| {
            let number = id.strip_prefix('U').and_then(|number| number.parse::<i32>().ok());
            number.ok_or(Refusal::NoSuch("person"))
        });
        let author = author.transpose()?;
        let text = filter.text.as_deref().unwrap_or_default();
        rows.retain(|row| {
            filter.states.contains(&row.state)
                && filter.priority.is_none_or(|priority| row.priority == priority)
                && author.is_none_or(|author| row.author == author)
                && row.title.contains(text)
                && filter.created.as_ref().is_none_or(|period| {
                    period.from.is_none_or(|from| row.created >= from)
                        && period.to.is_none_or(|to| row.created < to)
                })
                && filter.labels.as_ref().is_none_or(|labels| {
                    let of_row = |id: &ID| row.labels.iter().any(|label| **id == *format!("L{label}"));
                    labels.iter().all(of_row)
                })
        });
    }
    match order.by {
        IssueOrder::CreatedAt => rows.sort_by_key(|row| row.created),
        IssueOrder::Priority => rows.sort_by_key(|row| (row.priority as i32, row.id)),
        IssueOrder::Title => rows.sort_by(|one, other| one.title.cmp(&other.title)),
    }
    if order.direction == Direction::desc {
        rows.reverse();
    }
    Ok(rows.into_iter().map(Issue).collect())
}
