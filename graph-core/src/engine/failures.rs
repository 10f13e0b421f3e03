//! Converts the failures of an execution to errors of the response.

use crate::executor::FieldFailure;
use crate::executor::plan::Plan;
use crate::mask::Mask;
use crate::response::ResponseError;

/// Errors of a response in document order, independent of the order of completion.
pub(super) fn response_errors(
    plan: &Plan,
    mut failures: Vec<FieldFailure>,
    mask: &mut Mask<'_>,
) -> Vec<ResponseError> {
    failures.sort_by(|one, other| {
        let place = |failure: &FieldFailure| failure.meta;
        place(one)
            .cmp(&place(other))
            .then_with(|| one.indices.as_slice().cmp(other.indices.as_slice()))
    });
    let errors = failures.into_iter().map(|failure| {
        let at = usize::try_from(failure.meta).ok();
        let Some(meta) = at.and_then(|at| plan.metas.get(at)) else {
            return mask.panic(&"an error of a field outside the plan");
        };
        mask.field_error(
            &failure.error,
            meta.location,
            plan.path(Some(meta.place), failure.indices.as_slice()),
        )
    });
    errors.collect()
}
