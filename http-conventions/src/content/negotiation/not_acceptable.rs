//! The 406, [RFC 9110 §15.5.7](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.7).

use crate::errors::{Problem, ProblemBase, types};

/// The request accepts nothing of what there is.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("nothing acceptable among {}", available.join(", "))]
pub struct NotAcceptable {
    available: Vec<String>,
}

impl NotAcceptable {
    pub(super) fn new(offers: impl IntoIterator<Item: ToString>) -> Self {
        let available = offers.into_iter().map(|offer| offer.to_string()).collect();
        Self { available }
    }

    /// The 406 to answer with; its extension `available` lists what there is.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        types::NOT_ACCEPTABLE
            .problem(base)
            .with_extension("available", self.available)
    }
}
