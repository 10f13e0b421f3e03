//! Walks over a collection in both directions.

use std::time::{Duration, SystemTime};

use http_conventions::{
    errors::{Member, ProblemBase, ReceivedProblem},
    paging::{
        AskedPage, CursorBinding, CursorError, CursorKey, CursorKeyring, Direction, Page, PageError,
        PageRules, PositionTooLong, PositionValue, Relation,
    },
    routing::InvalidLocation,
};
use proptest::prelude::*;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn keyring() -> CursorKeyring {
    CursorKeyring::new(CursorKey::new(1, [7; 32]))
}

fn binding() -> CursorBinding {
    CursorBinding::new("/v1/charges", "user-7").with_sort("id")
}

fn open<'k>(keyring: &'k CursorKeyring, query: &str) -> Result<AskedPage<'k, i64>, PageError> {
    keyring.open_page(PageRules::default().with_before(), Some(query), binding(), now())
}

/// A page of a host with ascending order.
fn list(rows: &[i64], query: &str) -> Page<i64> {
    let keyring = keyring();
    let asked = open(&keyring, query).unwrap();
    let fetched = match asked.before() {
        Some(before) => {
            let preceding = rows.iter().rev().copied().filter(|row| row < before);
            preceding.take(asked.limit().fetch()).collect()
        }
        None => {
            let following = rows
                .iter()
                .copied()
                .filter(|row| asked.after().is_none_or(|after| row > after));
            following.take(asked.limit().fetch()).collect()
        }
    };
    asked.page(fetched, |row| *row).unwrap()
}

/// H10: `before` returns the same pages as `after`, in the order of the collection.
#[test]
fn a_walk_back_meets_the_pages_of_the_walk_forward() {
    let rows: Vec<i64> = (0..23).map(|row| row * 3).collect();
    for size in [1, 5, 22, 23, 24] {
        let mut forward = vec![list(&rows, &format!("limit={size}"))];
        while let Some(cursor) = forward.last().unwrap().next_cursor() {
            let query = format!("limit={size}&after={cursor}");
            forward.push(list(&rows, &query));
        }
        assert_eq!(forward.first().unwrap().previous_cursor(), None);
        assert_eq!(
            forward.iter().flat_map(Page::data).copied().collect::<Vec<_>>(),
            rows
        );

        // the cursors are those of the same rows, so whole pages are equal
        let mut back = vec![forward.pop().unwrap()];
        while let Some(cursor) = back.last().unwrap().previous_cursor() {
            let query = format!("limit={size}&before={cursor}");
            back.push(list(&rows, &query));
            assert_eq!(back.last(), forward.pop().as_ref());
        }
        assert!(forward.is_empty());
    }
}

/// H10: rows that are inserted or deleted during a walk are seen at most once, and the row of a
/// cursor may be deleted.
#[test]
fn a_walk_back_survives_changes() {
    let mut rows: Vec<i64> = (0..10).collect();
    let last = list(&rows, "limit=100");
    assert_eq!((last.previous_cursor(), last.has_more()), (None, false));
    let second = list(
        &rows,
        &format!("limit=3&after={}", list(&rows, "limit=4").next_cursor().unwrap()),
    );
    assert_eq!(second.data(), [4, 5, 6]);
    rows.retain(|row| *row != 4 && *row != 2);
    rows.push(-1);
    rows.sort_unstable();
    let first = list(
        &rows,
        &format!("limit=3&before={}", second.previous_cursor().unwrap()),
    );
    assert_eq!((first.data(), first.has_more()), (&[0, 1, 3][..], true));
    let start = list(
        &rows,
        &format!("limit=3&before={}", first.previous_cursor().unwrap()),
    );
    assert_eq!((start.data(), start.previous_cursor()), (&[-1][..], None));
    // all earlier rows are deleted
    let none = list(&[7, 8], &format!("before={}", first.previous_cursor().unwrap()));
    assert_eq!(
        (none.data(), none.has_more(), none.previous_cursor()),
        (&[][..], false, None)
    );
}

/// H10: a cursor has one direction, and each refusal names its parameter.
#[test]
fn a_cursor_walks_one_way() {
    let keyring = keyring();
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let seal = |direction| {
        keyring
            .seal(&[PositionValue::Integer(7)], direction, &binding(), now())
            .unwrap()
    };
    let (forward, backward) = (seal(Direction::Forward), seal(Direction::Backward));
    assert_eq!(
        open(&keyring, &format!("before={backward}")).unwrap().before(),
        Some(&7)
    );
    for (query, parameter, slug) in [
        (format!("before={forward}"), "before", "/invalid-cursor"),
        (format!("after={backward}"), "after", "/invalid-cursor"),
        ("before=".to_owned(), "before", "/invalid-page-request"),
        ("before=x".to_owned(), "before", "/invalid-cursor"),
        (
            format!("before={backward}&before={backward}"),
            "before",
            "/invalid-page-request",
        ),
        (
            format!("before={backward}&after={forward}"),
            "before",
            "/invalid-page-request",
        ),
    ] {
        let response = open(&keyring, &query).unwrap_err().problem(&base).into_response();
        let problem = ReceivedProblem::parse(response.body()).unwrap();
        assert_eq!(
            (response.status().as_u16(), problem.type_uri().ends_with(slug)),
            (400, true),
            "{query}"
        );
        assert_eq!(
            problem.extension("parameter").and_then(Member::as_str),
            Some(parameter),
            "{query}"
        );
    }
    let refused = open(&keyring, &format!("before={forward}")).err();
    assert_eq!(refused, Some(PageError::Before(CursorError::Invalid)));
}

/// H10: `before` is accepted only if the rules enable it; otherwise it is ignored.
#[test]
fn before_is_accepted_only_if_configured() {
    let keyring = keyring();
    let asked = keyring.open_page::<i64>(
        PageRules::default(),
        Some("before=2026-01-01&limit=1"),
        binding(),
        now(),
    );
    let asked = asked.unwrap();
    assert_eq!(asked.before(), None);
    let page = asked.page(vec![1, 2], |row| *row).unwrap();
    let after = format!("limit=1&after={}", page.next_cursor().unwrap());
    let asked = keyring
        .open_page::<i64>(PageRules::default(), Some(&after), binding(), now())
        .unwrap();
    assert_eq!(
        asked.page(vec![2, 3], |row| *row).unwrap().previous_cursor(),
        None
    );

    let asked = keyring
        .open_page::<String>(PageRules::default().with_before(), None, binding(), now())
        .unwrap();
    assert_eq!(asked.page(vec![1, 2], |_| "x".repeat(1000)).err(), None);
    let long = asked.page((0..21).collect(), |_| "x".repeat(1000));
    assert_eq!(long, Err(PositionTooLong));
}

/// H11: links to the neighbours keep the filters and drop the other cursor.
#[test]
fn a_page_links_to_its_neighbours() {
    let rows: Vec<i64> = (0..10).collect();
    let first = list(&rows, "limit=3");
    let query = format!("limit=3&status=a%26b&after={}", first.next_cursor().unwrap());
    let second = list(&rows, &query);
    let links = second.links("/v1/charges", Some(&query)).unwrap();
    let href = |relation| links.find(&relation).unwrap().href().as_str().to_owned();
    let (previous, next) = (second.previous_cursor().unwrap(), second.next_cursor().unwrap());
    assert_eq!(
        href(Relation::PREV),
        format!("/v1/charges?limit=3&status=a%26b&before={previous}")
    );
    assert_eq!(
        href(Relation::NEXT),
        format!("/v1/charges?limit=3&status=a%26b&after={next}")
    );

    assert!(list(&[], "").links("/v1/charges", None).unwrap().is_empty());
    assert_eq!(second.links("charges", None), Err(InvalidLocation));
}

proptest! {
    /// H10: from any row, equal steps back and forth return to it.
    #[test]
    fn walking_back_and_forth_returns_to_the_row(count in 2_i64..40, size in 1_usize..10, steps in 0_usize..6) {
        let rows: Vec<i64> = (0..count).collect();
        let mut page = list(&rows, &format!("limit={size}"));
        for _ in 0..steps {
            let Some(cursor) = page.next_cursor() else { break };
            let next = list(&rows, &format!("limit={size}&after={cursor}"));
            let back = list(&rows, &format!("limit={size}&before={}", next.previous_cursor().unwrap()));
            prop_assert_eq!(back.data(), page.data());
            prop_assert!(back.has_more());
            page = next;
        }
    }
}
