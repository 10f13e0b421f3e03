//! Rows in memory, instead of a database.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Duration, TimeZone, Utc};

use crate::enums::{IssueState, Priority, Resolution};

/// Row of an issue.
#[derive(Clone, Debug)]
pub struct IssueRow {
    pub id: i32,
    pub project: i32,
    pub title: String,
    pub body: String,
    pub state: IssueState,
    pub priority: Priority,
    pub resolution: Option<Resolution>,
    pub author: i32,
    pub assignee: Option<i32>,
    pub labels: Vec<i32>,
    pub milestone: Option<i32>,
    pub estimate: Option<f64>,
    pub is_locked: bool,
    pub created: DateTime<Utc>,
}

/// Row of a comment.
#[derive(Clone, Debug)]
pub struct CommentRow {
    pub id: i32,
    pub issue: i32,
    pub author: i32,
    pub text: String,
    pub created: DateTime<Utc>,
}

/// Error of the database.
#[derive(Debug)]
pub struct StoreError(pub String);

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "store: {}", self.0)
    }
}

impl std::error::Error for StoreError {}

/// All rows.
pub struct Store {
    issues: Mutex<Vec<IssueRow>>,
    comments: Mutex<Vec<CommentRow>>,
    /// Statements that loaded people.
    statements: AtomicUsize,
}

/// Start of all times.
pub fn epoch() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 1, 5, 9, 30, 0)
        .single()
        .unwrap_or_default()
}

pub fn day(number: i32) -> DateTime<Utc> {
    epoch() + Duration::days(number.into())
}

impl Store {
    pub fn new() -> Self {
        let states = [IssueState::Open, IssueState::InProgress, IssueState::Closed];
        let priorities = [Priority::Low, Priority::Normal, Priority::High, Priority::Urgent];
        let issues = (1..=12).map(|id: i32| {
            let state = states[(id % 3) as usize];
            IssueRow {
                id,
                project: 1 + id % 3,
                title: format!("Issue {id}"),
                body: format!("Steps of *issue {id}*:\n\n1. \"open\"\n2. wait"),
                state,
                priority: priorities[(id % 4) as usize],
                resolution: (state == IssueState::Closed).then_some(Resolution::Fixed),
                author: 1 + id % 4,
                assignee: (id % 2 == 0).then_some(1 + id % 3),
                labels: (1..=id % 4).collect(),
                milestone: (id % 3 == 0).then_some(1),
                estimate: (id % 5 != 0).then_some(f64::from(id) / 2.0),
                is_locked: id == 7,
                created: day(id),
            }
        });
        let comments = (1..=9).map(|id: i32| CommentRow {
            id,
            issue: 1 + id % 4,
            author: 1 + id % 4,
            text: format!("Comment {id}"),
            created: day(20 + id),
        });
        Self {
            issues: Mutex::new(issues.collect()),
            comments: Mutex::new(comments.collect()),
            statements: AtomicUsize::new(0),
        }
    }

    pub fn issues(&self) -> Vec<IssueRow> {
        self.issues.lock().unwrap().clone()
    }

    pub async fn issue(&self, id: i32) -> Result<Option<IssueRow>, StoreError> {
        if id == 500 {
            return Err(StoreError("connection to 10.0.0.7 refused".to_owned()));
        }
        Ok(self.issues().into_iter().find(|issue| issue.id == id))
    }

    pub fn comments(&self, issue: i32) -> Vec<CommentRow> {
        let comments = self.comments.lock().unwrap();
        comments
            .iter()
            .filter(|comment| comment.issue == issue)
            .cloned()
            .collect()
    }

    pub fn add_issue(&self, make: impl FnOnce(i32) -> IssueRow) -> IssueRow {
        let mut issues = self.issues.lock().unwrap();
        let issue = make(issues.len() as i32 + 1);
        issues.push(issue.clone());
        issue
    }

    pub fn add_comment(&self, issue: i32, author: i32, text: String) -> CommentRow {
        let mut comments = self.comments.lock().unwrap();
        let id = comments.len() as i32 + 1;
        let comment = CommentRow {
            id,
            issue,
            author,
            text,
            created: day(60),
        };
        comments.push(comment.clone());
        comment
    }

    pub fn change(&self, id: i32, change: impl FnOnce(&mut IssueRow)) -> Option<IssueRow> {
        let mut issues = self.issues.lock().unwrap();
        let issue = issues.iter_mut().find(|issue| issue.id == id)?;
        change(issue);
        Some(issue.clone())
    }

    /// Statement that loads people.
    pub async fn people(&self, ids: &[i32]) -> Vec<(i32, String)> {
        self.statements.fetch_add(1, Ordering::SeqCst);
        let known = ids.iter().filter(|id| (1..=4).contains(*id));
        known
            .map(|id| (*id, ["ada", "bob", "cyd", "dan"][(*id - 1) as usize].to_owned()))
            .collect()
    }

    pub fn statements(&self) -> usize {
        self.statements.load(Ordering::SeqCst)
    }
}
