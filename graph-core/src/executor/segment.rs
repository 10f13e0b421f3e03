//! A piece of the response with holes where something is not ready yet.

use super::{Bubble, Trail};

/// What a future wrote.
pub type SegResult = Result<Seg, Bubble>;

/// A piece of JSON with holes.
#[derive(Debug, Default)]
pub struct Seg {
    pub(crate) buf: Vec<u8>,
    holes: Vec<Hole>,
    /// `None` until a nullable value is written: a segment is moved often.
    regions: Option<Box<Regions>>,
}

/// A place in [`Seg::buf`] that a future will fill.
#[derive(Debug)]
struct Hole {
    at: usize,
    /// The innermost nullable value around it.
    region: Option<u32>,
    nullable: bool,
    /// The field, as [`Plan::metas`](super::Plan) knows it.
    meta: u32,
    trail: Trail,
    fill: Option<Seg>,
}

/// A nullable value of [`Seg::buf`] with holes in it.
#[derive(Debug)]
struct Region {
    start: usize,
    end: usize,
    parent: Option<u32>,
    nulled: bool,
}

/// The nullable values of a segment, in the order of the document.
#[derive(Debug, Default)]
struct Regions {
    all: Vec<Region>,
    /// The innermost one that is being written.
    open: Option<u32>,
}

impl Regions {
    /// Takes the region of `mark` back, and those within it.
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

/// Where a nullable value started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    start: usize,
    holes: usize,
    /// Its region.
    region: u32,
    around: Option<u32>,
}

impl From<Vec<u8>> for Seg {
    fn from(buf: Vec<u8>) -> Self {
        Self {
            buf,
            ..Self::default()
        }
    }
}

impl Seg {
    /// Leaves a hole for a field, and names it.
    pub(crate) fn leave(&mut self, nullable: bool, meta: u32, trail: Trail) -> usize {
        self.holes.push(Hole {
            at: self.buf.len(),
            region: self.regions.as_ref().and_then(|regions| regions.open),
            nullable,
            meta,
            trail,
            fill: None,
        });
        self.holes.len() - 1
    }

    /// Makes room for so many holes.
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
            // a document of so many nullable values would not fit into memory
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

    /// Ends a nullable value that was written.
    pub(crate) fn end(&mut self, mark: Mark) {
        let Some(regions) = &mut self.regions else { return };
        regions.open = mark.around;
        if self.holes.len() == mark.holes {
            regions.forget(mark);
        } else if let Some(region) = regions.get_mut(mark.region) {
            region.end = self.buf.len();
        }
    }

    /// Takes a nullable value back, with its holes, and writes null for it. Returns how many holes are left.
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

    /// Whether a hole is in a value that is null by now.
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

    /// Nulls the value around a hole that cannot be filled.
    pub(crate) fn null_around(&mut self, hole: usize) -> Result<(), Bubble> {
        let region = self.holes.get(hole).and_then(|hole| hole.region).ok_or(Bubble)?;
        let regions = self.regions.as_mut().ok_or(Bubble)?;
        if let Some(region) = regions.get_mut(region) {
            region.nulled = true;
        }
        Ok(())
    }

    /// The field of a hole: its meta, its place, and whether it may be null.
    pub(crate) fn field_of(&self, hole: usize) -> Option<(u32, Trail, bool)> {
        let hole = self.holes.get(hole)?;
        Some((hole.meta, hole.trail.clone(), hole.nullable))
    }

    pub(crate) fn len(&self) -> usize {
        let filled = self.holes.iter().filter_map(|hole| hole.fill.as_ref());
        self.buf.len() + filled.map(Self::len).sum::<usize>()
    }

    /// The whole piece, when every hole is filled or dead.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        if self.holes.is_empty() {
            return self.buf;
        }
        // and what ends the envelope: with nothing to spare the bytes are handed on as they are
        let mut out = Vec::with_capacity(self.len() + 1);
        self.stitch(&mut out);
        out
    }

    fn stitch(&self, out: &mut Vec<u8>) {
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
                Some(segment) => segment.stitch(out),
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
