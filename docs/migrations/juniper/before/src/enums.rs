//! Enums.

use juniper::GraphQLEnum;

/// State of an issue.
#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum IssueState {
    Open,
    InProgress,
    Closed,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum Priority {
    Low,
    Normal,
    High,
    /// Wakes the person on duty.
    Urgent,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
#[graphql(name = "MemberRole", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Role {
    Reader,
    Writer,
    Maintainer,
    #[graphql(name = "OWNER", description = "May delete the project.")]
    Administrator,
    #[graphql(deprecated = "use READER")]
    Guest,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum Visibility {
    Public,
    Internal,
    Private,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum Resolution {
    Fixed,
    Duplicate,
    WontFix,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum IssueOrder {
    CreatedAt,
    Priority,
    Title,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
#[graphql(rename_all = "none")]
#[expect(non_camel_case_types, reason = "names of the API")]
pub enum Direction {
    asc,
    desc,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum NotificationReason {
    Assigned,
    Mentioned,
    Subscribed,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum ReviewVerdict {
    Approved,
    ChangesRequested,
    Commented,
}

#[derive(Clone, Copy, Debug, Eq, GraphQLEnum, PartialEq)]
pub enum DeliveryState {
    Pending,
    Delivered,
    Failed,
}
