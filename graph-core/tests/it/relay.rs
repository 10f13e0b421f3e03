//! Comparison of pages with graphql-relay.
//!
//! `tests/oracle/connections.mjs` generates lists and records graphql-relay's pages. [`check`]
//! lists the differences: cases in which the specification allows more, or in which we refuse.

use std::fs;
use std::path::Path;

use graph_core::ErrorCode;
use graph_core::connection::{
    CursorKey, Cursors, Direction, FieldCursors, Page, PageArguments, PageLimits, PageRequest,
};
use serde_json::Value;

const LIMITS: PageLimits = PageLimits::new(5, 12);

fn field() -> FieldCursors {
    let cursors = Cursors::new(CursorKey::try_from([5; 32].as_slice()).unwrap());
    cursors.field("Query.entries")
}

fn integer(of: &Value, key: &str) -> Option<i32> {
    of[key].as_i64().map(|number| i32::try_from(number).unwrap())
}

fn integers(of: &Value, key: &str) -> Vec<i32> {
    let entries = of[key].as_array().unwrap().iter();
    entries
        .map(|entry| i32::try_from(entry.as_i64().unwrap()).unwrap())
        .collect()
}

/// Cursor of the entry `id`.
fn cursor(id: i32) -> String {
    let request = field().request(LIMITS, PageArguments::default()).unwrap();
    request.rows(vec![id], i32::to_string).edges()[0]
        .cursor()
        .to_owned()
}

/// Rows of a store: between `after` and `before`, in the direction, one more than the page size.
fn rows(request: &PageRequest, list: &[i32]) -> Page<i32> {
    let position = |cursor: Option<&str>| cursor.map(|cursor| cursor.parse::<i32>().unwrap());
    let (after, before) = (position(request.after()), position(request.before()));
    let inside = list.iter().copied();
    let inside = inside.filter(|id| after.is_none_or(|after| *id > after));
    let mut inside: Vec<_> = inside
        .filter(|id| before.is_none_or(|before| *id < before))
        .collect();
    if request.direction() == Direction::Backward {
        inside.reverse();
    }
    inside.truncate(request.fetch_limit());
    request.rows(inside, i32::to_string)
}

/// Compares with the page of graphql-relay, except for these differences:
///
/// 1. With `after` or `before`, the flag in that direction is true, because the cursor's entry
///    exists. graphql-relay sets only the flag in the direction of paging.
/// 2. `first` with `last`, and a size above the maximum, are refused.
/// 3. In an in-memory list the entry of a cursor must exist. graphql-relay's cursors are positions,
///    so it uses the entry that moved there.
fn check(case: &Value) {
    let (after, before) = (integer(case, "after"), integer(case, "before"));
    let arguments = PageArguments {
        first: integer(case, "first"),
        last: integer(case, "last"),
        after: after.map(cursor),
        before: before.map(cursor),
    };
    let request = field().request(LIMITS, arguments);
    if case["refused"].is_string() {
        assert_eq!(request.unwrap_err().code(), ErrorCode::BadUserInput, "{case}");
        return;
    }
    let (request, page) = (request.unwrap(), &case["page"]);
    let gone = integers(case, "gone");
    let length = integer(case, "length").unwrap();
    let list: Vec<_> = (1..=length).filter(|id| !gone.contains(id)).collect();
    let is_gone = |id: Option<i32>| id.is_some_and(|id| gone.contains(&id));
    let slice = request.slice(list.clone(), i32::to_string);
    let slice = if is_gone(after) || is_gone(before) {
        assert_eq!(slice.unwrap_err().code(), ErrorCode::BadUserInput, "{case}");
        None
    } else {
        Some(slice.unwrap())
    };
    for ours in [Some(rows(&request, &list)), slice].into_iter().flatten() {
        assert!(ours.nodes().copied().eq(integers(page, "ids")), "{case}");
        let (info, said) = (ours.page_info(), |flag: &str| page[flag].as_bool().unwrap());
        assert_eq!(
            info.has_previous_page(),
            said("previous") || after.is_some(),
            "{case}"
        );
        assert_eq!(info.has_next_page(), said("next") || before.is_some(), "{case}");
        assert_eq!(
            info.start_cursor(),
            ours.edges().first().map(|edge| edge.cursor()),
            "{case}"
        );
        assert_eq!(
            info.end_cursor(),
            ours.edges().last().map(|edge| edge.cursor()),
            "{case}"
        );
    }
}

fn check_all(file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.lines().count() > 100);
    for line in text.lines() {
        check(&serde_json::from_str(line).unwrap());
    }
}

/// G12: entries, all four fields of `pageInfo`, both directions, removed entries.
#[test]
fn pages_are_those_of_graphql_relay() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/vectors");
    check_all(&vectors.join("connections.jsonl"));
}

#[test]
#[ignore = "tests/oracle/run writes the cases"]
fn pages_of_this_hour_are_those_of_graphql_relay() {
    check_all(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("connections.jsonl"));
}
