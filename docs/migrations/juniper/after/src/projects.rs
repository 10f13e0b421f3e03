//! Projects and their parts.

use chrono::{DateTime, NaiveDate, Utc};
use graph_core::look_ahead::LookAhead;
use graph_core::{GraphObject, graph_object};
use juniper::{FieldResult, ID};

use crate::code::{PullRequest, Repository};
use crate::context::Context;
use crate::enums::{DeliveryState, IssueState, Visibility};
use crate::errors::Refusal;
use crate::inputs::{IssueFilter, Order};
use crate::interfaces::{NodeValue, Owner, TimestampedValue};
use crate::issues::{Issue, select};
use crate::page::Page;
use crate::people::{Membership, Organization, User};
use crate::scalars::{ByteSize, Colour, Markdown, Rgb};
use crate::store::day;

/// Project with its issues.
#[derive(Clone, Debug)]
pub struct Project {
    pub number: i32,
    pub title: String,
    pub visibility: Visibility,
}

impl Project {
    pub fn find(number: i32) -> Self {
        Self {
            number,
            title: format!("Project {number}"),
            visibility: [Visibility::Private, Visibility::Public, Visibility::Internal]
                [(number % 3) as usize],
        }
    }
}

#[graph_object]
#[graphql(context = Context, impl = [NodeValue, TimestampedValue])]
impl Project {
    fn id(&self) -> ID {
        ID::new(format!("P{}", self.number))
    }

    fn slug(&self) -> String {
        format!("project-{}", self.number)
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn visibility(&self) -> Visibility {
        self.visibility
    }

    fn description(&self) -> Option<Markdown> {
        Some(Markdown(format!("About _{}_", self.title)))
    }

    fn created_at(&self) -> DateTime<Utc> {
        day(-10)
    }

    fn updated_at(&self) -> Option<DateTime<Utc>> {
        None
    }

    fn owner(&self) -> Owner {
        match self.number {
            1 => Owner::Organization(Organization { number: 1 }),
            _ => Owner::User(User {
                number: 1,
                login: "ada".to_owned(),
            }),
        }
    }

    /// Issues of the project. Loads the people of all issues at once if the client selects them.
    async fn issues(
        &self,
        context: &Context,
        look_ahead: LookAhead<'_, Page<Issue>>,
        filter: Option<IssueFilter>,
        #[graphql(default = Order { by: crate::enums::IssueOrder::CreatedAt, direction: crate::enums::Direction::asc })]
        order: Order,
        #[graphql(default = 5)] first: i32,
        after: Option<String>,
    ) -> FieldResult<Page<Issue>> {
        let nodes = look_ahead.below(|page| page.nodes);
        let asks_people = nodes.selects(|issue| issue.author) || nodes.selects(|issue| issue.assignee);
        if asks_people {
            context.host().store.people(&[1, 2, 3, 4]).await;
        }
        let all = context
            .host()
            .store
            .issues()
            .into_iter()
            .filter(|row| row.project == self.number);
        Ok(Page::new(
            select(all.collect(), filter.as_ref(), &order)?,
            first,
            after.as_deref(),
        )?)
    }

    fn issue_count(&self, context: &Context, state: Option<IssueState>) -> i32 {
        let rows = context.host().store.issues().into_iter();
        let of_project = rows.filter(|row| row.project == self.number);
        of_project
            .filter(|row| state.is_none_or(|state| row.state == state))
            .count() as i32
    }

    fn labels(&self) -> Vec<Label> {
        (1..=3).map(Label::find).collect()
    }

    fn milestones(&self, #[graphql(default = false)] with_closed: bool) -> Vec<Milestone> {
        (1..=2)
            .map(|number| Milestone { number })
            .filter(|found| with_closed || found.number == 1)
            .collect()
    }

    fn sprints(&self) -> Vec<Sprint> {
        (1..=2).map(Sprint::find).collect()
    }

    fn boards(&self) -> Vec<Board> {
        vec![Board { number: self.number }]
    }

    fn settings(&self, context: &Context) -> Result<Option<ProjectSettings>, Refusal> {
        context.host().viewer.ok_or(Refusal::NotSignedIn)?;
        Ok(Some(ProjectSettings::default_of(self.number)))
    }

    fn stats(&self) -> ProjectStats {
        ProjectStats::of(self.number)
    }

    fn repository(&self) -> Option<Repository> {
        (self.number != 3).then_some(Repository { number: self.number })
    }

    fn pull_requests(&self) -> Vec<PullRequest> {
        (1..=2).map(|number| PullRequest { number }).collect()
    }

    fn members(&self) -> Vec<Membership> {
        (1..=4).map(|user| Membership::of(user, self.number)).collect()
    }

    fn webhooks(&self) -> Vec<Webhook> {
        vec![Webhook { number: 1 }]
    }
}

/// Settings of a project.
#[derive(Clone, Debug, GraphObject)]
pub struct ProjectSettings {
    pub default_branch: String,
    pub issues_enabled: bool,
    pub wiki_enabled: bool,
    pub retention_days: i32,
    pub quota: ByteSize,
    pub merge_commit: bool,
    pub squash: bool,
    pub auto_close: Option<i32>,
    pub allowed_hosts: Vec<String>,
    #[deprecated(note = "always true")]
    pub https_only: bool,
}

impl ProjectSettings {
    #[expect(deprecated, reason = "clients still read the field")]
    fn default_of(number: i32) -> Self {
        Self {
            default_branch: "main".to_owned(),
            issues_enabled: true,
            wiki_enabled: number != 1,
            retention_days: 30,
            quota: ByteSize(5_000_000_000),
            merge_commit: false,
            squash: true,
            auto_close: None,
            allowed_hosts: vec!["example.org".to_owned()],
            https_only: true,
        }
    }
}

/// Numbers of a project.
#[derive(Clone, Debug, GraphObject)]
pub struct ProjectStats {
    pub stars: i32,
    pub forks: i32,
    pub open_issues: i32,
    pub closed_issues: i32,
    pub commits: i32,
    pub contributors: i32,
    pub size: ByteSize,
    pub mean_hours_to_close: f64,
    pub weekly_commits: Vec<i32>,
    pub languages: Vec<LanguageShare>,
}

impl ProjectStats {
    fn of(number: i32) -> Self {
        let share = |name: &str, percent| LanguageShare {
            name: name.to_owned(),
            percent,
            colour: Rgb(0x00_de_a5_84),
        };
        Self {
            stars: number * 11,
            forks: number,
            open_issues: 8,
            closed_issues: 4,
            commits: 1_200,
            contributors: 4,
            size: ByteSize(123_456_789_012),
            mean_hours_to_close: 30.25,
            weekly_commits: vec![3, 0, number],
            languages: vec![share("Rust", 98.5), share("Shell", 1.5)],
        }
    }
}

/// Share of a language in a project.
#[derive(Clone, Debug, GraphObject)]
pub struct LanguageShare {
    pub name: String,
    pub percent: f64,
    pub colour: Colour,
}

/// Label of issues.
#[derive(Clone, Debug, GraphObject)]
#[graphql(impl = NodeValue, context = Context)]
pub struct Label {
    pub id: ID,
    pub name: String,
    pub colour: Colour,
    pub description: Option<String>,
    pub is_default: bool,
}

impl Label {
    pub fn find(number: i32) -> Self {
        Self {
            id: ID::new(format!("L{number}")),
            name: ["bug", "feature", "question"]
                .get((number - 1) as usize)
                .unwrap_or(&"other")
                .to_string(),
            colour: Rgb(0x11_22_33 * number as u32),
            description: None,
            is_default: number == 1,
        }
    }
}

/// Goal with a day.
#[derive(Clone, Debug)]
pub struct Milestone {
    pub number: i32,
}

#[graph_object(context = Context, impl = NodeValue)]
impl Milestone {
    fn id(&self) -> ID {
        ID::new(format!("M{}", self.number))
    }

    fn title(&self) -> String {
        format!("v{}.0", self.number)
    }

    fn due(&self) -> Option<NaiveDate> {
        Some(day(100).date_naive())
    }

    fn is_closed(&self) -> bool {
        self.number == 2
    }

    fn progress(&self) -> f64 {
        0.5
    }

    async fn issues(&self, context: &Context) -> Vec<Issue> {
        let rows = context.host().store.issues().into_iter();
        rows.filter(|row| row.milestone == Some(self.number))
            .map(Issue)
            .collect()
    }
}

/// Weeks of work.
#[derive(Clone, Debug, GraphObject)]
pub struct Sprint {
    pub number: i32,
    pub goal: String,
    pub starts_on: NaiveDate,
    pub ends_on: NaiveDate,
    pub capacity: f64,
    pub velocity: Option<f64>,
    pub is_active: bool,
}

impl Sprint {
    fn find(number: i32) -> Self {
        Self {
            number,
            goal: format!("goal {number}"),
            starts_on: day(number * 14).date_naive(),
            ends_on: day(number * 14 + 13).date_naive(),
            capacity: 40.0,
            velocity: (number == 1).then_some(32.5),
            is_active: number == 2,
        }
    }
}

/// Board with columns.
#[derive(Clone, Debug)]
pub struct Board {
    pub number: i32,
}

#[graph_object(context = Context)]
impl Board {
    fn id(&self) -> ID {
        ID::new(format!("BD{}", self.number))
    }

    fn name(&self) -> String {
        format!("board {}", self.number)
    }

    fn columns(&self) -> Vec<BoardColumn> {
        let states = [IssueState::Open, IssueState::InProgress, IssueState::Closed];
        states
            .into_iter()
            .map(|state| BoardColumn {
                board: self.number,
                state,
            })
            .collect()
    }

    /// Cards by column and row.
    fn grid(&self) -> Vec<Vec<Option<String>>> {
        vec![vec![Some("a".to_owned()), None], vec![]]
    }
}

/// Column of a board.
#[derive(Clone, Debug)]
pub struct BoardColumn {
    board: i32,
    state: IssueState,
}

#[graph_object(context = Context)]
impl BoardColumn {
    fn title(&self) -> String {
        format!("{:?}", self.state)
    }

    fn state(&self) -> IssueState {
        self.state
    }

    fn limit(&self) -> Option<i32> {
        (self.state == IssueState::InProgress).then_some(3)
    }

    async fn issues(&self, context: &Context) -> Vec<Issue> {
        let rows = context.host().store.issues().into_iter();
        rows.filter(|row| row.project == self.board && row.state == self.state)
            .map(Issue)
            .collect()
    }
}

/// Address that gets events.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub number: i32,
}

#[graph_object(context = Context)]
impl Webhook {
    fn id(&self) -> ID {
        ID::new(format!("W{}", self.number))
    }

    fn url(&self) -> &'static str {
        "https://hooks.example/in"
    }

    fn events(&self) -> Vec<&'static str> {
        vec!["issue.opened", "issue.closed"]
    }

    fn is_active(&self) -> bool {
        true
    }

    fn secret(&self) -> FieldResult<Option<String>> {
        Err("secrets are not readable".into())
    }

    fn deliveries(&self, #[graphql(default = 2)] first: i32) -> Vec<WebhookDelivery> {
        (1..=first).map(WebhookDelivery::find).collect()
    }
}

/// Delivery of an event.
#[derive(Clone, Debug, GraphObject)]
pub struct WebhookDelivery {
    pub id: ID,
    pub state: DeliveryState,
    pub attempts: i32,
    pub status: Option<i32>,
    pub duration: Option<f64>,
    pub sent_at: DateTime<Utc>,
    pub response: Option<String>,
}

impl WebhookDelivery {
    fn find(number: i32) -> Self {
        Self {
            id: ID::new(format!("WD{number}")),
            state: [
                DeliveryState::Delivered,
                DeliveryState::Failed,
                DeliveryState::Pending,
            ][(number % 3) as usize],
            attempts: number,
            status: (number % 2 == 0).then_some(200),
            duration: Some(0.125),
            sent_at: day(number),
            response: None,
        }
    }
}
