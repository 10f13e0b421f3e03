//! People, programs, organizations and teams.

use chrono::{DateTime, Utc};
use juniper::{FieldResult, GraphQLObject, ID, graphql_object};

use crate::context::{Clock, Context};
use crate::enums::Role;
use crate::errors::Refusal;
use crate::interfaces::{ActorValue, NodeValue};
use crate::issues::Issue;
use crate::projects::Project;
use crate::scalars::{EmailAddress, Markdown};
use crate::store::day;

/// Person with an account.
#[derive(Clone, Debug)]
pub struct User {
    pub number: i32,
    pub login: String,
}

impl User {
    /// Reads one person from the store.
    pub async fn load(context: &Context, number: i32) -> Option<Self> {
        let people = context.store.people(&[number]).await;
        people
            .into_iter()
            .next()
            .map(|(number, login)| Self { number, login })
    }
}

#[graphql_object]
#[graphql(context = Context, impl = [NodeValue, ActorValue])]
impl User {
    fn id(&self) -> ID {
        ID::new(format!("U{}", self.number))
    }

    /// Name for signing in.
    fn login(&self) -> String {
        self.login.clone()
    }

    fn avatar_url(&self, size: Option<i32>) -> String {
        format!("https://img.example/{}?s={}", self.login, size.unwrap_or(64))
    }

    async fn display_name(&self) -> String {
        self.login.to_uppercase()
    }

    /// Address; only for the person.
    fn email(&self, context: &Context) -> Result<Option<EmailAddress>, Refusal> {
        match context.viewer {
            None => Err(Refusal::NotSignedIn),
            Some(viewer) if viewer == self.number => Ok(Some(self.address())),
            Some(_) => Ok(None),
        }
    }

    fn profile(&self) -> Profile {
        Profile {
            bio: (self.number % 2 == 1).then(|| Markdown(format!("I am **{}**", self.login))),
            company: Some("Example".to_owned()),
            location: None,
            website: Some(format!("https://{}.example", self.login)),
            time_zone: "Europe/Berlin".to_owned(),
            pronouns: None,
            joined: day(-self.number),
            is_hireable: self.number != 2,
            followers: self.number * 10,
            following: self.number,
        }
    }

    fn teams(&self) -> Vec<Team> {
        (1..=2)
            .filter(|team| (team + self.number) % 2 == 0)
            .map(|number| Team { number })
            .collect()
    }

    fn memberships(&self, #[graphql(default = 5)] first: i32) -> Vec<Membership> {
        (1..=3)
            .take(first.max(0) as usize)
            .map(|project| Membership::of(self.number, project))
            .collect()
    }

    #[graphql(name = "assigned", description = "Issues that are assigned to the person.")]
    async fn assigned_issues(&self, context: &Context) -> Vec<Issue> {
        let rows = context.store.issues().into_iter();
        rows.filter(|row| row.assignee == Some(self.number))
            .map(Issue)
            .collect()
    }

    /// Days since the account exists.
    fn age_in_days(&self, #[graphql(context)] clock: &Clock) -> i32 {
        (clock.0 - day(-self.number)).num_days() as i32
    }

    fn token(&self) -> uuid::Uuid {
        uuid::Uuid::from_u128(self.number as u128)
    }

    #[graphql(deprecated = "use `displayName`")]
    fn name(&self) -> &str {
        &self.login
    }

    #[graphql(ignore)]
    fn address(&self) -> EmailAddress {
        EmailAddress::new(format!("{}@example.org", self.login))
    }
}

/// Page about a person.
#[derive(Clone, Debug, GraphQLObject)]
pub struct Profile {
    pub bio: Option<Markdown>,
    pub company: Option<String>,
    pub location: Option<String>,
    pub website: Option<String>,
    /// Name in the tz database.
    pub time_zone: String,
    pub pronouns: Option<String>,
    pub joined: DateTime<Utc>,
    #[graphql(name = "hireable")]
    pub is_hireable: bool,
    pub followers: i32,
    pub following: i32,
}

/// Program with an account.
#[derive(Clone, Debug)]
pub struct Bot {
    pub number: i32,
}

#[graphql_object(context = Context, impl = [NodeValue, ActorValue])]
impl Bot {
    fn id(&self) -> ID {
        ID::new(format!("B{}", self.number))
    }

    fn login(&self) -> String {
        format!("bot-{}", self.number)
    }

    fn avatar_url(&self, size: Option<i32>) -> String {
        format!("https://img.example/bot?s={}", size.unwrap_or(32))
    }

    async fn display_name(&self) -> String {
        "a bot".to_owned()
    }

    async fn maintainer(&self, context: &Context) -> FieldResult<User> {
        User::load(context, self.number)
            .await
            .ok_or_else(|| "the maintainer left".into())
    }

    fn version() -> &'static str {
        "2.1.0"
    }

    fn permissions() -> [&'static str; 2] {
        ["issues:read", "comments:write"]
    }

    fn runs_per_day() -> f64 {
        12.5
    }

    fn is_verified(&self) -> bool {
        self.number == 1
    }
}

/// Company or club.
#[derive(Clone, Debug)]
pub struct Organization {
    pub number: i32,
}

#[graphql_object(context = Context, impl = [NodeValue, ActorValue])]
impl Organization {
    fn id(&self) -> ID {
        ID::new(format!("O{}", self.number))
    }

    fn login(&self) -> String {
        format!("org-{}", self.number)
    }

    fn avatar_url(&self, size: Option<i32>) -> String {
        format!("https://img.example/org?s={}", size.unwrap_or(128))
    }

    async fn display_name(&self) -> String {
        format!("Organization {}", self.number)
    }

    fn plan() -> Plan {
        Plan {
            name: "team".to_owned(),
            seats: 50,
            used_seats: 4,
            price: 12.5,
            currency: "EUR".to_owned(),
            renews_at: day(120),
            features: vec!["audit".to_owned(), "boards".to_owned()],
            trial: false,
        }
    }

    fn teams(&self) -> Vec<Team> {
        (1..=2).map(|number| Team { number }).collect()
    }

    async fn members(&self, context: &Context, first: Option<i32>) -> Vec<User> {
        let ids: Vec<i32> = (1..=first.unwrap_or(4)).collect();
        let people = context.store.people(&ids).await.into_iter();
        people.map(|(number, login)| User { number, login }).collect()
    }

    fn projects(&self) -> Vec<Project> {
        (1..=3).map(Project::find).collect()
    }

    fn billing_address(&self) -> Option<EmailAddress> {
        Some(EmailAddress::new("billing@example.org"))
    }
}

/// Tariff of an organization.
#[derive(Clone, Debug, GraphQLObject)]
pub struct Plan {
    pub name: String,
    pub seats: i32,
    pub used_seats: i32,
    pub price: f64,
    pub currency: String,
    pub renews_at: DateTime<Utc>,
    pub features: Vec<String>,
    pub trial: bool,
}

/// Group of people.
#[derive(Clone, Debug)]
pub struct Team {
    pub number: i32,
}

#[graphql_object(context = Context, impl = NodeValue)]
impl Team {
    fn id(&self) -> ID {
        ID::new(format!("T{}", self.number))
    }

    fn name(&self) -> String {
        format!("team {}", self.number)
    }

    fn slug(&self) -> String {
        format!("team-{}", self.number)
    }

    fn description(&self) -> Option<Markdown> {
        None
    }

    fn parent(&self) -> Option<Box<Self>> {
        (self.number > 1).then(|| {
            Box::new(Self {
                number: self.number - 1,
            })
        })
    }

    async fn lead(&self, context: &Context) -> Option<User> {
        User::load(context, self.number).await
    }

    async fn members(&self, context: &Context) -> Vec<User> {
        let people = context.store.people(&[self.number, self.number + 1]).await;
        people
            .into_iter()
            .map(|(number, login)| User { number, login })
            .collect()
    }

    fn organization() -> Organization {
        Organization { number: 1 }
    }
}

/// Part of a person in a project.
#[derive(Clone, Debug, GraphQLObject)]
#[graphql(context = Context)]
pub struct Membership {
    pub role: Role,
    pub since: DateTime<Utc>,
    pub project: Project,
    pub user: User,
    pub is_public: bool,
    pub expires_at: Option<DateTime<Utc>>,
    #[graphql(ignore)]
    pub row: i32,
}

impl Membership {
    pub fn of(user: i32, project: i32) -> Self {
        let roles = [
            Role::Reader,
            Role::Writer,
            Role::Maintainer,
            Role::Administrator,
            Role::Guest,
        ];
        Self {
            role: roles[((user + project) % 5) as usize],
            since: day(project),
            project: Project::find(project),
            user: User {
                number: user,
                login: ["ada", "bob", "cyd", "dan"][(user - 1) as usize].to_owned(),
            },
            is_public: project != 2,
            expires_at: None,
            row: user * 100 + project,
        }
    }
}
