//! Converts the failures of an execution to errors of the response.

use crate::error::ErrorCode;
use crate::executor::plan::Plan;
use crate::executor::{FieldFailure, ListIndices};
use crate::mask::Mask;
use crate::response::{GraphResponse, MISTAKES, ResponseError, cut_message};
use crate::validate::Fault;

/// Bytes of messages and paths after which no further fault is reported.
const FAULTS: usize = 400_000;

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
    faulty: impl IntoIterator<Item = (u32, &'f [Fault])>,
) -> Option<GraphResponse> {
    let mut faulty: Vec<_> = faulty.into_iter().collect();
    faulty.sort_by_key(|(meta, _)| *meta);
    let (mut errors, mut size) = (Vec::new(), 0);
    for (meta, faults) in faulty {
        let at = usize::try_from(meta).ok();
        let Some(meta) = at.and_then(|at| plan.metas.get(at)) else {
            continue;
        };
        for fault in faults {
            // long response keys can make each path as large as the request
            if errors.len() >= MISTAKES || size > FAULTS {
                return Some(GraphResponse::request_errors(errors));
            }
            let argument_path = ("argumentPath".to_owned(), fault.argument_path());
            let message = cut_message(fault.message());
            let message_size = message.len();
            let error = ResponseError::new(ErrorCode::BadUserInput, message)
                .at(meta.location)
                .in_field(plan.path(Some(meta.place), ListIndices::ROOT.as_slice()))
                .with_extensions([argument_path]);
            // a field of an interface has a plan for each object type
            if !errors.contains(&error) {
                size += message_size + plan.path_size(Some(meta.place), &[]);
                errors.push(error);
            }
        }
    }
    (!errors.is_empty()).then(|| GraphResponse::request_errors(errors))
}
