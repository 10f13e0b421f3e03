//! Panics of resolvers: a panic nulls its field, the fields beside it live.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::plan::Field;
use super::{Execution, ListIndices, NullPropagation, Path, WriteResult};
use crate::error::GraphError;

/// Payload of a caught panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Calls `run` and catches its panic.
#[inline]
pub(crate) fn contained<R>(run: impl FnOnce() -> R) -> Result<R, Payload> {
    // the caller cuts the output back to the start of the field; anything else is the host's
    catch_unwind(AssertUnwindSafe(run))
}

impl<C> Execution<'_, C> {
    /// Records the panic of `field`, whose value starts at `from`, and writes null if the field is
    /// nullable.
    ///
    /// # Errors
    ///
    /// If the field is not nullable.
    #[cold]
    pub(crate) fn interrupted(
        &self,
        field: Option<&Field>,
        path: &Path<'_>,
        payload: Payload,
        from: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult {
        let Some(field) = field else {
            resume_unwind(payload);
        };
        self.panicked(field.meta, path.list_indices(), &*payload);
        if field.non_null {
            return Err(NullPropagation);
        }
        out.truncate(from);
        out.extend_from_slice(b"null");
        Ok(())
    }

    /// Records the panic of a field.
    #[cold]
    pub(super) fn panicked(&self, meta: u32, indices: ListIndices, payload: &(dyn Any + Send)) {
        self.record_failure_by_meta(meta, indices, GraphError::panicked(payload).into());
    }
}
