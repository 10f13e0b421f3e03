//! 406 Not Acceptable, [RFC 9110 §15.5.7](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.7).

use crate::errors::{Problem, ProblemBase, types};

/// The request accepts none of the available representations.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no acceptable representation; available: {}", available.join(", "))]
pub struct NotAcceptable {
    available: Vec<String>,
}

impl NotAcceptable {
    pub(super) fn new(offers: impl IntoIterator<Item: ToString>) -> Self {
        let available = offers.into_iter().map(|offer| offer.to_string()).collect();
        Self { available }
    }

    /// Creates the 406 problem. Its extension `available` lists the available representations.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        types::NOT_ACCEPTABLE
            .problem(base)
            .with_extension("available", self.available)
    }
}
