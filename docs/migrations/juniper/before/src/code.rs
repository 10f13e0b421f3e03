//! Repositories and changes of code.

use chrono::{DateTime, Utc};
use juniper::{FieldResult, GraphQLObject, ID, graphql_object};

use crate::context::Context;
use crate::enums::ReviewVerdict;
use crate::interfaces::{CommentableObject, NodeValue, TimestampedValue};
use crate::issues::Comment;
use crate::people::User;
use crate::scalars::Markdown;
use crate::store::day;

/// Repository of a project.
#[derive(Clone, Debug)]
pub struct Repository {
    pub number: i32,
}

#[graphql_object(context = Context)]
impl Repository {
    fn id(&self) -> ID {
        ID::new(format!("R{}", self.number))
    }

    fn clone_url(&self) -> String {
        format!("https://git.example/{}.git", self.number)
    }

    fn default_branch(&self) -> Branch {
        Branch::find("main")
    }

    fn branches(&self) -> Vec<Branch> {
        ["main", "next"].into_iter().map(Branch::find).collect()
    }

    async fn commits(
        &self,
        #[graphql(default = 3)] first: i32,
        branch: Option<String>,
    ) -> FieldResult<Vec<Commit>> {
        if branch.as_deref() == Some("gone") {
            return Err(format!("no branch `gone` in repository {}", self.number))?;
        }
        Ok((1..=first).map(Commit::find).collect())
    }

    async fn commit(&self, hash: String) -> Option<Commit> {
        (1..=9).map(Commit::find).find(|commit| commit.hash == hash)
    }

    fn is_archived(&self) -> bool {
        false
    }
}

/// Branch of a repository.
#[derive(Clone, Debug, GraphQLObject)]
#[graphql(context = Context)]
pub struct Branch {
    pub name: String,
    pub head: Commit,
    pub is_protected: bool,
    pub ahead: i32,
    pub behind: i32,
}

impl Branch {
    fn find(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            head: Commit::find(1),
            is_protected: name == "main",
            ahead: 0,
            behind: 2,
        }
    }
}

/// Commit of a repository.
#[derive(Clone, Debug, GraphQLObject)]
#[graphql(context = Context)]
pub struct Commit {
    pub hash: String,
    pub message: String,
    pub author: User,
    pub at: DateTime<Utc>,
    pub additions: i32,
    pub deletions: i32,
    pub parents: Vec<String>,
    pub is_signed: bool,
}

impl Commit {
    pub fn find(number: i32) -> Self {
        Self {
            hash: format!("{:040x}", 0xc0ffee + number),
            message: format!("change {number}\n\nwith \\ and \u{1f980}"),
            author: User {
                number: 1,
                login: "ada".to_owned(),
            },
            at: day(number),
            additions: number * 3,
            deletions: number,
            parents: vec![format!("{:040x}", 0xc0ffee + number - 1)],
            is_signed: number == 1,
        }
    }
}

/// Proposal to merge a branch.
#[derive(Clone, Debug)]
pub struct PullRequest {
    pub number: i32,
}

#[graphql_object(context = Context, impl = [NodeValue, TimestampedValue, CommentableObject])]
impl PullRequest {
    fn id(&self) -> ID {
        ID::new(format!("PR{}", self.number))
    }

    fn title(&self) -> String {
        format!("merge {}", self.number)
    }

    fn body(&self) -> Option<Markdown> {
        None
    }

    fn created_at(&self) -> DateTime<Utc> {
        day(40)
    }

    fn updated_at(&self) -> Option<DateTime<Utc>> {
        Some(day(41))
    }

    fn head(&self) -> Branch {
        Branch::find("next")
    }

    fn base(&self) -> Branch {
        Branch::find("main")
    }

    fn is_draft(&self) -> bool {
        self.number == 2
    }

    fn mergeable(&self) -> Option<bool> {
        (self.number == 1).then_some(true)
    }

    fn commits(&self) -> Vec<Commit> {
        (1..=self.number).map(Commit::find).collect()
    }

    fn reviews(&self) -> Vec<Review> {
        vec![Review::find(self.number)]
    }

    fn comments(&self, context: &Context, #[graphql(default = 10)] first: i32) -> Vec<Comment> {
        let rows = context.store.comments(self.number).into_iter();
        rows.take(first.max(0) as usize).map(Comment).collect()
    }

    fn comment_count(&self) -> i32 {
        0
    }
}

/// Opinion on a proposal.
#[derive(Clone, Debug, GraphQLObject)]
#[graphql(context = Context)]
pub struct Review {
    pub id: ID,
    pub verdict: ReviewVerdict,
    pub body: Option<Markdown>,
    pub reviewer: User,
    pub submitted_at: DateTime<Utc>,
}

impl Review {
    fn find(number: i32) -> Self {
        Self {
            id: ID::new(format!("RV{number}")),
            verdict: if number == 1 {
                ReviewVerdict::Approved
            } else {
                ReviewVerdict::ChangesRequested
            },
            body: Some(Markdown("fine".to_owned())),
            reviewer: User {
                number: 2,
                login: "bob".to_owned(),
            },
            submitted_at: day(42),
        }
    }
}
