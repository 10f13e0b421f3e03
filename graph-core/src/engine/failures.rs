//! Converts the failures of an execution to errors of the response.

use crate::error::ErrorCode;
use crate::executor::plan::{FieldIndex, Plan};
use crate::executor::{FieldFailure, ListIndices};
use crate::mask::Mask;
use crate::response::{GraphResponse, MISTAKES, ResponseError};
use crate::validate::Fault;

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

/// Response to an operation with invalid arguments, in document order.
pub(super) fn invalid_arguments<'f>(
    plan: &Plan,
    faulty: impl IntoIterator<Item = (FieldIndex, &'f [Fault])>,
) -> Option<GraphResponse> {
    let mut faulty: Vec<_> = faulty.into_iter().collect();
    faulty.sort_by_key(|(at, _)| at.meta);
    let mut errors = Vec::new();
    for (at, faults) in faulty {
        let at = usize::try_from(at.meta).ok();
        let Some(meta) = at.and_then(|at| plan.metas.get(at)) else {
            continue;
        };
        for fault in faults {
            let argument_path = ("argumentPath".to_owned(), fault.argument_path());
            let error = ResponseError::new(ErrorCode::BadUserInput, fault.message())
                .at(meta.location)
                .in_field(plan.path(Some(meta.place), ListIndices::ROOT.as_slice()))
                .with_extensions([argument_path]);
            // a field of an interface has a plan for each object type
            if errors.len() < MISTAKES && !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    (!errors.is_empty()).then(|| GraphResponse::request_errors(errors))
}
