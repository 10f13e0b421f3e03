//! Converts the failures of an execution to errors of the response.

use crate::error::ErrorCode;
use crate::executor::plan::{FieldIndex, Plan};
use crate::executor::{FieldFailure, ListIndices};
use crate::mask::Mask;
use crate::response::{GraphResponse, MISTAKES, PathSegment, ResponseError};
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
            path(plan, meta.place, &failure.indices),
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
                .in_field(path(plan, meta.place, &ListIndices::ROOT))
                .with_extensions([argument_path]);
            // a field of an interface has a plan for each object type
            if errors.len() < MISTAKES && !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    (!errors.is_empty()).then(|| GraphResponse::request_errors(errors))
}

/// Path of a field: response keys with list indices between them.
fn path(plan: &Plan, place: u32, indices: &ListIndices) -> Vec<PathSegment> {
    let mut around = Vec::new();
    let mut at = Some(place);
    while let Some(place) = at.and_then(|at| plan.places.get(usize::try_from(at).ok()?)) {
        around.push(place);
        at = place.parent;
    }
    let mut indices = indices.as_slice().iter();
    let mut path = Vec::with_capacity(around.len() + indices.len());
    for (above, place) in around.iter().enumerate().rev() {
        path.push(PathSegment::Key(place.key.to_string()));
        // all list indices of a parent field precede the failed field
        let lists = if above == 0 {
            usize::MAX
        } else {
            usize::try_from(place.lists).unwrap_or(usize::MAX)
        };
        for index in indices.by_ref().take(lists) {
            path.push(PathSegment::Index(usize::try_from(*index).unwrap_or(usize::MAX)));
        }
    }
    path
}
