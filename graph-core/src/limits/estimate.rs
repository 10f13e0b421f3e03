//! What an operation asks for, in numbers, and which limits that exceeds.

use juniper::Variables;

use super::measure::counts;
use super::{CostModel, Limits, Outline};
use crate::error::ErrorCode;
use crate::guard::Principal;
use crate::response::ResponseError;

/// How many list fields of introspection may nest; graphql-js refuses the third, too.
const INTROSPECTION_LISTS: usize = 2;

/// What an operation, or a batch of them, asks for, found out before anything of it runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Estimate {
    depth: usize,
    introspection_lists: usize,
    aliases: usize,
    root_fields: usize,
    cost: u64,
}

impl Estimate {
    /// Levels of selection.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Aliases.
    #[must_use]
    pub fn aliases(&self) -> usize {
        self.aliases
    }

    /// Fields selected at the root.
    #[must_use]
    pub fn root_fields(&self) -> usize {
        self.root_fields
    }

    /// The cost.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// The same of introspection alone, which no mode of the limits lets run in circles.
    pub(crate) fn of_introspection(&self) -> Self {
        Self {
            introspection_lists: self.introspection_lists,
            ..Self::default()
        }
    }

    /// What both ask for together; the deeper one is as deep as both.
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

/// One operation as the limits saw it, or all of a batch that exceed a limit together.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Measured<'r> {
    /// What it asks for.
    pub estimate: Estimate,
    /// The codes of the limits that it exceeds.
    pub exceeded: &'r [ErrorCode],
    /// The operation of its document, if the request named it; none of a batch.
    pub operation_name: Option<&'r str>,
    /// Who asked.
    pub principal: Option<&'r Principal>,
}

/// Receives what operations ask for. Any `Fn(&Measured)` is one.
///
/// # What an implementation must guarantee
///
/// It returns quickly: it is called before the operation runs.
pub trait LimitLog: Send + Sync {
    /// Takes note of `measured`.
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
    /// What `outline` asks for with `variables`.
    pub(crate) fn estimate(&self, outline: &Outline, model: &CostModel, variables: &Variables) -> Estimate {
        let counts = counts(outline);
        Estimate {
            depth: counts.depth,
            introspection_lists: counts.introspection_lists,
            aliases: counts.aliases,
            root_fields: counts.root_fields,
            cost: model.cost(outline, self.list_size, variables),
        }
    }

    /// Every limit that `estimate` exceeds.
    pub(crate) fn exceeded(&self, estimate: &Estimate) -> Vec<ResponseError> {
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
