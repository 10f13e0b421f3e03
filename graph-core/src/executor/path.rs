//! Where in the response a value is: only list indices are known while it is written, response keys are in the plan.

use std::sync::Arc;

/// The list indices from the root of the response to a value; lives on the stack of the pass that writes it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "generated code only hands it on")]
pub enum Path<'a> {
    /// Where a future started to write.
    Root(&'a Trail),
    /// An entry of the innermost list.
    Index(&'a Self, u32),
}

impl Path<'_> {
    /// The indices, to be moved into a future.
    #[must_use]
    pub fn trail(&self) -> Trail {
        match self {
            Path::Root(root) => (*root).clone(),
            Path::Index(parent, index) => parent.trail().then(*index),
        }
    }
}

/// The list indices from the root of the response to the field of a future.
#[derive(Clone, Debug)]
pub struct Trail(Indices);

/// Most fields lie in few lists, and a future is moved.
#[derive(Clone, Debug)]
enum Indices {
    Inline(u8, [u32; INLINE]),
    Spilled(Arc<[u32]>),
}

const INLINE: usize = 4;

impl Trail {
    /// The root.
    pub const ROOT: Self = Self(Indices::Inline(0, [0; INLINE]));

    /// This place, and then an entry of a list.
    fn then(mut self, index: u32) -> Self {
        if let Indices::Inline(length, indices) = &mut self.0
            && let Some(next) = indices.get_mut(usize::from(*length))
        {
            *next = index;
            *length += 1;
            return self;
        }
        let whole = self.indices().iter().copied().chain([index]);
        Self(Indices::Spilled(whole.collect()))
    }

    pub(crate) fn indices(&self) -> &[u32] {
        match &self.0 {
            Indices::Inline(length, indices) => indices.get(..usize::from(*length)).unwrap_or_default(),
            Indices::Spilled(indices) => indices,
        }
    }
}
