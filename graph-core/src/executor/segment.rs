//! Part of the response, with holes for values that are not ready.

use super::deferred::Deferral;
use super::{ListIndices, NullPropagation};

/// Output of a future.
pub type SegmentResult = Result<Segment, NullPropagation>;

/// Part of the JSON response with holes.
#[derive(Debug, Default)]
pub struct Segment {
    pub(crate) buf: Vec<u8>,
    holes: Vec<Hole>,
    /// `None` until a nullable value is written; boxed because segments are moved often.
    regions: Option<Box<Regions>>,
}

/// Position in the buffer that a future will fill.
#[derive(Debug)]
struct Hole {
    at: usize,
    /// Innermost nullable value around the hole.
    region: Option<u32>,
    nullable: bool,
    /// The hole stays empty, and marks a deferred group.
    is_deferred: bool,
    /// Index into [`Plan::metas`](super::Plan), or of a deferred group into
    /// [`Plan::deferred`](super::Plan).
    meta: u32,
    indices: ListIndices,
    fill: Option<Segment>,
}

/// Nullable value in the buffer that contains holes.
#[derive(Debug)]
struct Region {
    start: usize,
    end: usize,
    parent: Option<u32>,
    nulled: bool,
}

/// Nullable values of a segment in document order.
#[derive(Debug, Default)]
struct Regions {
    all: Vec<Region>,
    /// Innermost value that is being written.
    open: Option<u32>,
}

impl Regions {
    /// Removes the region of `mark` and its inner regions.
    fn forget(&mut self, mark: Mark) {
        self.all
            .truncate(usize::try_from(mark.region).unwrap_or(usize::MAX));
    }

    fn get(&self, at: u32) -> Option<&Region> {
        self.all.get(usize::try_from(at).ok()?)
    }

    fn get_mut(&mut self, at: u32) -> Option<&mut Region> {
        self.all.get_mut(usize::try_from(at).ok()?)
    }
}

/// Start of a nullable value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    start: usize,
    holes: usize,
    /// Region of the value.
    region: u32,
    around: Option<u32>,
}

impl From<Vec<u8>> for Segment {
    fn from(buf: Vec<u8>) -> Self {
        Self {
            buf,
            ..Self::default()
        }
    }
}

impl Segment {
    /// Leaves a hole for a field and returns its index.
    pub(crate) fn leave(&mut self, nullable: bool, meta: u32, indices: ListIndices) -> usize {
        self.holes.push(Hole {
            at: self.buf.len(),
            region: self.regions.as_ref().and_then(|regions| regions.open),
            nullable,
            is_deferred: false,
            meta,
            indices,
            fill: None,
        });
        self.holes.len() - 1
    }

    /// Marks the object that is being written as the place of a deferred group. Returns the index
    /// of the hole.
    pub(crate) fn defer(&mut self, group: u32, indices: ListIndices) -> usize {
        let hole = self.leave(true, group, indices);
        if let Some(hole) = self.holes.last_mut() {
            hole.is_deferred = true;
        }
        hole
    }

    /// Reserves space for `holes`.
    pub(crate) fn reserve(&mut self, holes: usize) {
        if self.holes.is_empty() {
            self.holes.reserve_exact(holes);
        } else {
            self.holes.reserve(holes);
        }
    }

    /// Starts a nullable value.
    pub(crate) fn begin(&mut self) -> Mark {
        let regions = self.regions.get_or_insert_default();
        let mark = Mark {
            start: self.buf.len(),
            holes: self.holes.len(),
            // unreachable: the document would not fit into memory
            region: u32::try_from(regions.all.len()).unwrap_or(u32::MAX),
            around: regions.open,
        };
        regions.all.push(Region {
            start: mark.start,
            end: mark.start,
            parent: regions.open,
            nulled: false,
        });
        regions.open = Some(mark.region);
        mark
    }

    /// Ends a nullable value.
    pub(crate) fn end(&mut self, mark: Mark) {
        let Some(regions) = &mut self.regions else { return };
        regions.open = mark.around;
        if self.holes.len() == mark.holes {
            regions.forget(mark);
        } else if let Some(region) = regions.get_mut(mark.region) {
            region.end = self.buf.len();
        }
    }

    /// Replaces a nullable value and its holes by null. Returns the number of remaining holes.
    pub(crate) fn take_back(&mut self, mark: Mark) -> usize {
        self.buf.truncate(mark.start);
        self.buf.extend_from_slice(b"null");
        self.holes.truncate(mark.holes);
        if let Some(regions) = &mut self.regions {
            regions.open = mark.around;
            regions.forget(mark);
        }
        mark.holes
    }

    pub(crate) fn fill(&mut self, hole: usize, segment: Self) {
        if let Some(hole) = self.holes.get_mut(hole) {
            hole.fill = Some(segment);
        }
    }

    /// Returns `true` if the hole is inside a value that is null.
    pub(crate) fn is_dead(&self, hole: usize) -> bool {
        let Some(regions) = &self.regions else {
            return false;
        };
        let mut at = self.holes.get(hole).and_then(|hole| hole.region);
        while let Some(region) = at.and_then(|at| regions.get(at)) {
            if region.nulled {
                return true;
            }
            at = region.parent;
        }
        false
    }

    /// Replaces the nullable value around a failed hole by null.
    pub(crate) fn null_around(&mut self, hole: usize) -> Result<(), NullPropagation> {
        let region = self
            .holes
            .get(hole)
            .and_then(|hole| hole.region)
            .ok_or(NullPropagation)?;
        let regions = self.regions.as_mut().ok_or(NullPropagation)?;
        if let Some(region) = regions.get_mut(region) {
            region.nulled = true;
        }
        Ok(())
    }

    /// Meta, list indices and nullability of the hole's field.
    pub(crate) fn field_of(&self, hole: usize) -> Option<(u32, ListIndices, bool)> {
        let hole = self.holes.get(hole)?;
        Some((hole.meta, hole.indices.clone(), hole.nullable))
    }

    pub(crate) fn len(&self) -> usize {
        let filled = self.holes.iter().filter_map(|hole| hole.fill.as_ref());
        self.buf.len() + filled.map(Self::len).sum::<usize>()
    }

    /// Joins the parts when every hole is filled or inside a null value.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.into_parts().0
    }

    /// Like [`into_bytes`](Self::into_bytes), with the deferred groups of objects that are not
    /// null, in document order.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<Deferral>) {
        let mut deferred = Vec::new();
        if self.holes.is_empty() {
            return (self.buf, deferred);
        }
        // one extra byte for the closing brace of the response
        let mut out = Vec::with_capacity(self.len() + 1);
        self.stitch(&mut out, &mut deferred);
        (out, deferred)
    }

    fn stitch(&self, out: &mut Vec<u8>, deferred: &mut Vec<Deferral>) {
        let mut from = 0;
        let regions = self.regions.iter().flat_map(|regions| &regions.all);
        let mut nulled = regions.filter(|region| region.nulled).peekable();
        for hole in &self.holes {
            while let Some(region) = nulled.next_if(|region| region.start <= hole.at) {
                if region.start >= from {
                    self.copy(from, region.start, out);
                    out.extend_from_slice(b"null");
                    from = region.end;
                }
            }
            if hole.at < from {
                continue;
            }
            self.copy(from, hole.at, out);
            from = hole.at;
            match &hole.fill {
                None if hole.is_deferred => deferred.push(Deferral {
                    group: hole.meta,
                    indices: hole.indices.clone(),
                }),
                Some(segment) => segment.stitch(out, deferred),
                None => out.extend_from_slice(b"null"),
            }
        }
        self.copy(from, self.buf.len(), out);
    }

    fn copy(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.buf.get(from..to).unwrap_or_default());
    }
}

#[cfg(test)]
#[path = "tests/segment.rs"]
mod tests;
