//! Errors of resolvers.

use juniper::{FieldError, IntoFieldError, ScalarValue, graphql_value};

/// Refusal that clients read.
#[derive(Debug)]
pub enum Refusal {
    NotSignedIn,
    NoSuch(&'static str),
    Locked { issue: i32 },
}

/// For `?` in resolvers that return a `FieldResult`.
impl<S: ScalarValue> From<Refusal> for FieldError<S> {
    fn from(refusal: Refusal) -> Self {
        refusal.into_field_error()
    }
}

impl<S: ScalarValue> IntoFieldError<S> for Refusal {
    fn into_field_error(self) -> FieldError<S> {
        match self {
            Self::NotSignedIn => {
                FieldError::new("sign in first", graphql_value!({ "code": "UNAUTHENTICATED" }))
            }
            Self::NoSuch(kind) => FieldError::new(
                format!("no such {kind}"),
                graphql_value!({ "code": "NOT_FOUND", "kind": kind }),
            ),
            Self::Locked { issue } => FieldError::new(
                format!("issue {issue} is locked"),
                graphql_value!({ "code": "ISSUE_LOCKED", "issue": issue }),
            ),
        }
    }
}
