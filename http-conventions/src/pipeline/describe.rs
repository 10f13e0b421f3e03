//! What the conventions say of themselves.

use serde_json::{Map, Value};

use super::{Conventions, Rules};
use crate::{
    errors::ProblemType,
    openapi::{self, Described, Takes},
};

impl Conventions {
    /// Every type of problem that is sent: those of the conventions as they are configured, then the host's own. A host shows
    /// the description of each where its URI points.
    #[must_use]
    pub fn problem_types(&self) -> Vec<ProblemType> {
        let mut types = openapi::own_types(&self.0.described());
        types.extend(&self.0.problem_types);
        types
    }

    /// The member `components` of an OpenAPI 3.1 document, with the names that [`openapi`] says.
    #[must_use]
    pub fn openapi_components(&self) -> Value {
        openapi::components(&self.0.described())
    }

    /// The members `parameters` and `responses` of an operation that takes part in these conventions, and in those of every
    /// request: references to the components.
    #[must_use]
    pub fn openapi_operation(&self, takes: &[Takes]) -> Value {
        openapi::operation(&self.0.described(), takes)
    }

    /// The member `headers` of a response of the host's own, with what every answer carries.
    #[must_use]
    pub fn openapi_headers(&self) -> Map<String, Value> {
        openapi::of_every_answer(&self.0.described())
    }
}

impl Rules {
    fn described(&self) -> Described<'_> {
        Described {
            base: &self.problems,
            kinds: &self.problem_types,
            pages: self.page_rules,
            versions: self.versions.as_ref(),
            pins_versions: self.pins_versions,
            limiter: self.limiter.as_ref(),
            idempotency: self.idempotency.as_ref(),
        }
    }
}
