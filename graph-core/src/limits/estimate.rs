//! Measured size of an operation, and the limits that it exceeds.

use juniper::Variables;

use super::measure::counts;
use super::{CostModel, Limits, Outline};
use crate::error::ErrorCode;
use crate::guard::Principal;
use crate::response::ResponseError;

/// Maximum nesting of introspection lists; graphql-js also refuses the third level.
const INTROSPECTION_LISTS: usize = 2;

/// Size of an operation, computed before execution; for a batch, the sums and the maximum depth.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Estimate {
    depth: usize,
    introspection_lists: usize,
    aliases: usize,
    root_fields: usize,
    cost: u64,
}

impl Estimate {
    /// Returns the levels of selection, without introspection.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of aliases.
    #[must_use]
    pub fn aliases(&self) -> usize {
        self.aliases
    }

    /// Returns the number of fields at the root.
    #[must_use]
    pub fn root_fields(&self) -> usize {
        self.root_fields
    }

    /// Returns the [cost](crate::limits#cost).
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Keeps only the introspection part, whose limit applies in every mode.
    pub(crate) fn of_introspection(&self) -> Self {
        Self {
            introspection_lists: self.introspection_lists,
            ..Self::default()
        }
    }

    /// Sums two estimates; depths are combined by maximum.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            introspection_lists: self.introspection_lists.max(other.introspection_lists),
            aliases: self.aliases.saturating_add(other.aliases),
            root_fields: self.root_fields.saturating_add(other.root_fields),
            cost: self.cost.saturating_add(other.cost),
        }
    }
}

/// Estimate of one operation, or of a batch that exceeds a limit as a whole.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Measured<'r> {
    /// Size of the operation or batch.
    pub estimate: Estimate,
    /// Codes of the exceeded limits.
    pub exceeded: &'r [ErrorCode],
    /// Operation name of the request, if any; `None` for a batch.
    pub operation_name: Option<&'r str>,
    /// Principal of the request; `None` if it is anonymous.
    pub principal: Option<&'r Principal>,
}

/// Receives the measured size of operations. Implemented for every `Fn(&Measured)`.
///
/// # Contract
///
/// The method returns quickly, because it is called before the operation runs.
pub trait LimitLog: Send + Sync {
    /// Records one measurement.
    fn record(&self, measured: &Measured<'_>);
}

impl<F> LimitLog for F
where
    F: Fn(&Measured<'_>) + Send + Sync,
{
    fn record(&self, measured: &Measured<'_>) {
        self(measured);
    }
}

impl Limits {
    /// Computes the estimate of `outline` with `variables`.
    pub(crate) fn estimate(&self, outline: &Outline, model: &CostModel, variables: &Variables) -> Estimate {
        let counts = counts(outline, variables);
        Estimate {
            depth: counts.depth,
            introspection_lists: counts.introspection_lists,
            aliases: counts.aliases,
            root_fields: counts.root_fields,
            cost: model.cost(outline, self.list_size, variables),
        }
    }

    /// Returns one error for each limit that `estimate` exceeds; none for an operation that runs.
    #[must_use]
    pub fn exceeded(&self, estimate: &Estimate) -> Vec<ResponseError> {
        let mut errors = Vec::new();
        let mut check = |exceeded: bool, code: ErrorCode, message: &dyn Fn() -> String| {
            if exceeded {
                errors.push(ResponseError::new(code, message()));
            }
        };
        check(estimate.depth > self.depth, ErrorCode::MaxDepthExceeded, &|| {
            format!(
                "the operation is {} levels deep, {} are allowed",
                estimate.depth, self.depth
            )
        });
        check(
            estimate.introspection_lists > INTROSPECTION_LISTS,
            ErrorCode::MaxDepthExceeded,
            &|| format!("introspection nests more than {INTROSPECTION_LISTS} lists"),
        );
        check(
            estimate.aliases > self.aliases,
            ErrorCode::MaxAliasesExceeded,
            &|| {
                format!(
                    "the operation has {} aliases, {} are allowed",
                    estimate.aliases, self.aliases
                )
            },
        );
        check(
            estimate.root_fields > self.root_fields,
            ErrorCode::MaxCostExceeded,
            &|| {
                let (found, allowed) = (estimate.root_fields, self.root_fields);
                format!("the operation selects {found} root fields, {allowed} are allowed")
            },
        );
        check(estimate.cost > self.cost, ErrorCode::MaxCostExceeded, &|| {
            format!(
                "the operation costs {}, the budget is {}",
                estimate.cost, self.cost
            )
        });
        errors
    }
}
