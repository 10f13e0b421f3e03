//! Notifications, bills and records.

use chrono::{DateTime, NaiveDate, Utc};
use graph_core::{GraphObject, graph_object};
use juniper::ID;

use crate::context::Context;
use crate::enums::NotificationReason;
use crate::interfaces::{ActorValue, SearchResult};
use crate::issues::Issue;
use crate::people::{Bot, Organization, User};
use crate::projects::Project;
use crate::scalars::ByteSize;
use crate::store::day;

/// Signed-in person.
pub struct Viewer(pub User);

#[graph_object]
#[graphql(context = Context)]
impl Viewer {
    fn user(&self) -> &User {
        &self.0
    }

    fn notifications(&self, #[graphql(default)] unread: bool) -> Vec<Notification> {
        let all = (1..=3).map(Notification::find);
        all.filter(|notification| !unread || !notification.is_read)
            .collect()
    }

    fn rate_limit(&self) -> RateLimit {
        RateLimit {
            limit: 5000,
            remaining: 4999,
            cost: 1,
            resets_at: day(91),
        }
    }

    fn invoices(&self) -> Vec<Invoice> {
        vec![Invoice::find(1)]
    }

    fn audit(&self) -> Vec<AuditEntry> {
        (1..=3).map(|number| AuditEntry { number }).collect()
    }

    fn sessions(&self) -> Vec<Session> {
        vec![Session {
            id: uuid::Uuid::from_u128(77),
            agent: "curl".to_owned(),
            address: "192.0.2.1".to_owned(),
            seen_at: day(89),
            is_current: true,
        }]
    }

    fn storage(&self) -> Storage {
        Storage {
            used: ByteSize(u64::MAX),
            available: ByteSize(0),
            files: 12,
        }
    }
}

/// Message about an event.
#[derive(Clone, Debug, GraphObject)]
pub struct Notification {
    pub id: ID,
    pub reason: NotificationReason,
    pub title: String,
    pub at: DateTime<Utc>,
    #[graphql(name = "read")]
    pub is_read: bool,
}

impl Notification {
    fn find(number: i32) -> Self {
        let reasons = [
            NotificationReason::Assigned,
            NotificationReason::Mentioned,
            NotificationReason::Subscribed,
        ];
        Self {
            id: ID::new(format!("N{number}")),
            reason: reasons[(number % 3) as usize],
            title: format!("notification {number}"),
            at: day(80 + number),
            is_read: number == 1,
        }
    }
}

/// Calls that are left.
#[derive(Clone, Debug, GraphObject)]
pub struct RateLimit {
    pub limit: i32,
    pub remaining: i32,
    pub cost: i32,
    pub resets_at: DateTime<Utc>,
}

/// Bill of a month.
#[derive(Clone, Debug, GraphObject)]
pub struct Invoice {
    pub number: String,
    pub issued_on: NaiveDate,
    pub paid_on: Option<NaiveDate>,
    pub total: f64,
    pub currency: String,
    pub lines: Vec<InvoiceLine>,
}

/// Line of a bill.
#[derive(Clone, Debug, GraphObject)]
pub struct InvoiceLine {
    pub text: String,
    pub quantity: i32,
    pub amount: f64,
}

impl Invoice {
    fn find(number: i32) -> Self {
        Self {
            number: format!("2026-{number:04}"),
            issued_on: day(0).date_naive(),
            paid_on: None,
            total: 59.5,
            currency: "EUR".to_owned(),
            lines: vec![InvoiceLine {
                text: "seats".to_owned(),
                quantity: 5,
                amount: 11.9,
            }],
        }
    }
}

/// Record of an action.
pub struct AuditEntry {
    number: i32,
}

#[graph_object(context = Context)]
impl AuditEntry {
    fn id(&self) -> ID {
        ID::new(format!("AE{}", self.number))
    }

    fn action(&self) -> String {
        format!("action-{}", self.number)
    }

    fn at(&self) -> DateTime<Utc> {
        day(self.number)
    }

    fn actor(&self) -> ActorValue {
        match self.number {
            1 => User {
                number: 1,
                login: "ada".to_owned(),
            }
            .into(),
            2 => Bot { number: 1 }.into(),
            _ => Organization { number: 1 }.into(),
        }
    }

    fn subject(&self, context: &Context) -> Option<SearchResult> {
        match self.number {
            1 => context
                .host()
                .store
                .issues()
                .into_iter()
                .next()
                .map(Issue)
                .map(SearchResult::Issue),
            2 => Some(SearchResult::Project(Project::find(1))),
            _ => None,
        }
    }
}

/// Browser or program that is signed in.
#[derive(Clone, Debug, GraphObject)]
pub struct Session {
    pub id: uuid::Uuid,
    pub agent: String,
    pub address: String,
    pub seen_at: DateTime<Utc>,
    pub is_current: bool,
}

/// Room for files.
#[derive(Clone, Debug, GraphObject)]
pub struct Storage {
    pub used: ByteSize,
    pub available: ByteSize,
    pub files: i32,
}
