//! Description of the conventions for OpenAPI and for documentation pages.

use serde_json::{Map, Value};

use super::{Conventions, Rules};
use crate::{
    errors::ProblemType,
    openapi::{self, Described, Takes},
};

impl Conventions {
    /// All problem types: those that the configured conventions can send, then those of the host.
    ///
    /// The host serves the description of each type at its URI.
    #[must_use]
    pub fn problem_types(&self) -> Vec<ProblemType> {
        let mut types = openapi::own_types(&self.0.described());
        types.extend(&self.0.problem_types);
        types
    }

    /// Member `components` of an OpenAPI 3.1 document; [`openapi`] lists the names.
    #[must_use]
    pub fn openapi_components(&self) -> Value {
        openapi::components(&self.0.described())
    }

    /// Members `parameters` and `responses` of an operation: references to the components. `takes`
    /// lists the features of the operation. With [`Takes::Patch`], also the member `requestBody`.
    ///
    /// The conventions of every request are included.
    #[must_use]
    pub fn openapi_operation(&self, takes: &[Takes]) -> Value {
        openapi::operation(&self.0.described(), takes)
    }

    /// Member `headers` of a response of the host: the headers of every response.
    #[must_use]
    pub fn openapi_headers(&self) -> Map<String, Value> {
        openapi::of_every_answer(&self.0.described())
    }
}

impl Rules {
    fn described(&self) -> Described<'_> {
        Described {
            base: &self.problems,
            checks_hosts: self.allowed_hosts.is_some(),
            sends_timing: self.sends_timing,
            requires_digest: self.requires_digest,
            kinds: &self.problem_types,
            pages: self.page_rules,
            versions: self.versions.as_ref(),
            pins_versions: self.pins_versions,
            limiter: self.limiter.as_ref(),
            idempotency: self.idempotency.as_ref(),
        }
    }
}
