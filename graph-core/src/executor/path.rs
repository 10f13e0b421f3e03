//! Position in the response. While the executor writes a value, it tracks only the list indices;
//! the response keys are in the plan.

use std::sync::Arc;

/// List indices from the root to a value, stored as a linked list on the stack.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "generated code only passes it on")]
pub enum Path<'a> {
    /// Position at which a future started to write.
    Root(&'a ListIndices),
    /// Entry of the innermost list.
    Index(&'a Self, u32),
}

impl Path<'_> {
    /// Copies the indices for a future.
    #[must_use]
    pub fn list_indices(&self) -> ListIndices {
        match self {
            Path::Root(root) => (*root).clone(),
            Path::Index(parent, index) => parent.list_indices().then(*index),
        }
    }
}

/// Owned list indices from the root to the field of a future.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ListIndices(Indices);

/// Stored inline for up to four nested lists, because the values are moved often.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Indices {
    Inline(u8, [u32; INLINE]),
    Spilled(Arc<[u32]>),
}

const INLINE: usize = 4;

impl ListIndices {
    /// Root of the response.
    pub const ROOT: Self = Self(Indices::Inline(0, [0; INLINE]));

    /// Appends a list index.
    fn then(mut self, index: u32) -> Self {
        if let Indices::Inline(length, indices) = &mut self.0
            && let Some(next) = indices.get_mut(usize::from(*length))
        {
            *next = index;
            *length += 1;
            return self;
        }
        let whole = self.as_slice().iter().copied().chain([index]);
        Self(Indices::Spilled(whole.collect()))
    }

    /// The first `count` indices.
    pub(crate) fn first(&self, count: usize) -> Self {
        let indices = self.as_slice().iter().take(count);
        indices.fold(Self::ROOT, |indices, index| indices.then(*index))
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        match &self.0 {
            Indices::Inline(length, indices) => indices.get(..usize::from(*length)).unwrap_or_default(),
            Indices::Spilled(indices) => indices,
        }
    }
}
