//! Segments compared with a tree model: nullable values, holes filled in any order, and failing
//! holes.

use proptest::prelude::*;

use super::{Segment, SegmentResult};
use crate::executor::{ListIndices, NullPropagation};

/// Part of a segment.
#[derive(Clone, Debug)]
enum Part {
    Leaf(u8),
    /// Nullable list.
    Nullable(Vec<Self>),
    /// Non-null list.
    List(Vec<Self>),
    /// Hole, and the list that fills it.
    Later(Vec<Self>),
    /// Hole that fails and is non-null.
    Fails,
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let leaf = prop_oneof![8 => any::<u8>().prop_map(Part::Leaf), 1 => Just(Part::Fails)];
    let part = leaf.prop_recursive(5, 60, 5, |inner| {
        let list = prop::collection::vec(inner, 0..5);
        prop_oneof![
            list.clone().prop_map(Part::Nullable),
            list.clone().prop_map(Part::List),
            list.prop_map(Part::Later),
        ]
    });
    prop::collection::vec(part, 0..6)
}

/// Expected text of a list; an error if the failure propagates.
fn expected(parts: &[Part]) -> Result<String, NullPropagation> {
    let parts: Result<Vec<_>, _> = parts.iter().map(expected_part).collect();
    Ok(format!("[{}]", parts?.join(",")))
}

fn expected_part(part: &Part) -> Result<String, NullPropagation> {
    match part {
        Part::Leaf(value) => Ok(value.to_string()),
        Part::Nullable(parts) => Ok(expected(parts).unwrap_or("null".to_owned())),
        Part::List(parts) | Part::Later(parts) => expected(parts),
        Part::Fails => Err(NullPropagation),
    }
}

/// Writes a list like the executor; `holes` collects the holes to fill.
fn write<'p>(parts: &'p [Part], seg: &mut Segment, holes: &mut Vec<(usize, &'p Part)>) {
    seg.buf.push(b'[');
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            seg.buf.push(b',');
        }
        match part {
            Part::Leaf(value) => seg.buf.extend_from_slice(value.to_string().as_bytes()),
            Part::List(parts) => write(parts, seg, holes),
            Part::Nullable(parts) => {
                let mark = seg.begin();
                write(parts, seg, holes);
                seg.end(mark);
            }
            Part::Later(_) | Part::Fails => holes.push((seg.leave(false, 0, ListIndices::ROOT), part)),
        }
    }
    seg.buf.push(b']');
}

/// Fills the holes, in reverse order for an odd `number`, and handles failures like the executor.
fn filled(parts: &[Part], number: u32) -> SegmentResult {
    let (mut seg, mut holes) = (Segment::default(), Vec::new());
    write(parts, &mut seg, &mut holes);
    if number % 2 == 1 {
        holes.reverse();
    }
    for (hole, part) in holes {
        if seg.is_dead(hole) {
            continue;
        }
        let Part::Later(parts) = part else {
            seg.null_around(hole)?;
            continue;
        };
        match filled(parts, number / 2) {
            Ok(inner) => seg.fill(hole, inner),
            Err(NullPropagation) => seg.null_around(hole)?,
        }
    }
    Ok(seg)
}

proptest! {
    #[test]
    fn holes_are_filled_and_values_nulled_in_any_order(parts in parts(), number in any::<u32>()) {
        let text = filled(&parts, number).map(|seg| String::from_utf8(seg.into_bytes()).unwrap());
        prop_assert_eq!(text.ok(), expected(&parts).ok());
    }

    #[test]
    fn a_value_that_is_taken_back_leaves_null_and_no_hole(parts in parts(), after in parts()) {
        let (mut seg, mut holes) = (Segment::default(), Vec::new());
        let before = seg.leave(true, 0, ListIndices::ROOT);
        let mark = seg.begin();
        write(&parts, &mut seg, &mut holes);
        prop_assert_eq!(seg.take_back(mark), before + 1);
        // holes after a replaced value are numbered from its start
        seg.buf.push(b',');
        let mut holes = Vec::new();
        write(&after, &mut seg, &mut holes);
        prop_assert!(holes.iter().enumerate().all(|(at, (hole, _))| *hole == before + 1 + at));
        prop_assert!(seg.null_around(before).is_err());
        prop_assert!(String::from_utf8(seg.into_bytes()).unwrap().starts_with("nullnull,["));
    }
}
