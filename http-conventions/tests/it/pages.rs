//! Pages by `open_page` and `page`.

use std::{
    slice::from_ref,
    time::{Duration, SystemTime},
};

use http_conventions::{
    errors::{ProblemBase, ReceivedProblem},
    paging::{
        AskedPage, CursorBinding, CursorError, CursorKey, CursorKeyring, Direction, PageError, PageRules,
        Position, PositionTooLong, PositionValue,
    },
};

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn keyring() -> CursorKeyring {
    CursorKeyring::new(CursorKey::new(1, [7; 32]))
}

fn binding() -> CursorBinding {
    CursorBinding::new("/v1/charges", "user-7").with_sort("id")
}

fn open<'k, P: Position>(keyring: &'k CursorKeyring, query: &str) -> Result<AskedPage<'k, P>, PageError> {
    keyring.open_page(PageRules::default(), Some(query), binding(), now())
}

fn after(position: &[PositionValue], direction: Direction) -> String {
    let cursor = keyring().seal(position, direction, &binding(), now());
    format!("after={}", cursor.unwrap())
}

/// H10: a walk over all pages yields every row once.
#[test]
fn two_calls_walk_the_whole_collection() {
    let keyring = keyring();
    let rows: Vec<i64> = (0..57).map(|row| row * 3).collect();
    for size in [1, 7, 56, 57, 58] {
        let (mut seen, mut query) = (Vec::new(), format!("limit={size}"));
        loop {
            let asked = open::<i64>(&keyring, &query).unwrap();
            let rest = rows
                .iter()
                .copied()
                .filter(|row| asked.after().is_none_or(|after| row > after));
            let page = asked
                .page(rest.take(asked.limit().fetch()).collect(), |last| *last)
                .unwrap();
            assert!(page.data().len() <= size);
            seen.extend_from_slice(page.data());
            let Some(cursor) = page.next_cursor() else { break };
            query = format!("limit={size}&after={cursor}");
        }
        assert_eq!(seen, rows);
    }
}

/// H10: every refused page request is one error type with its own problem.
#[test]
fn each_refusal_of_a_page_is_a_400_that_names_its_parameter() {
    let keyring = keyring();
    let base = ProblemBase::new("https://api.example.com/problems/").unwrap();
    let other = CursorBinding::new("/v1/charges", "user-8").with_sort("id");
    let foreign = keyring
        .seal(&[PositionValue::Null], Direction::Forward, &other, now())
        .unwrap();
    for (query, slug, parameter) in [
        ("limit=0", "invalid-page-request", "limit"),
        ("after=", "invalid-page-request", "after"),
        ("after=nonsense", "invalid-cursor", "after"),
        (&format!("after={foreign}"), "cursor-mismatch", "after"),
    ] {
        let response = open::<i64>(&keyring, query)
            .unwrap_err()
            .problem(&base)
            .into_response();
        let problem = ReceivedProblem::parse(response.body()).unwrap();
        assert_eq!(response.status(), 400);
        assert!(problem.type_uri().ends_with(slug), "{query}");
        assert_eq!(
            problem.extension("parameter").and_then(|it| it.as_str()),
            Some(parameter)
        );
    }
}

/// H10: a cursor whose position has another form, or whose direction differs, is invalid.
#[test]
fn a_position_of_another_form_is_invalid() {
    let keyring = keyring();
    let (number, text) = (PositionValue::Integer(7), PositionValue::from("ch_7"));
    let invalid = Some(PageError::Cursor(CursorError::Invalid));
    let forward = |values: &[PositionValue]| after(values, Direction::Forward);
    let only_number = forward(from_ref(&number));
    let only_text = forward(from_ref(&text));
    let both = forward(&[number.clone(), text.clone()]);

    assert_eq!(open::<i64>(&keyring, &only_number).unwrap().after(), Some(&7));
    assert_eq!(
        open::<String>(&keyring, &only_text).unwrap().after().unwrap(),
        "ch_7"
    );
    let values = open::<Vec<PositionValue>>(&keyring, &both).unwrap();
    assert_eq!(values.after(), Some(&vec![number.clone(), text]));

    for query in [
        only_text,
        both.clone(),
        forward(&[]),
        after(&[number], Direction::Backward),
    ] {
        assert_eq!(open::<i64>(&keyring, &query).err(), invalid);
    }
    for query in [only_number, both] {
        assert_eq!(open::<String>(&keyring, &query).err(), invalid);
    }
}

/// H10: positions of this crate round-trip, and a position that does not fit is an error.
#[test]
fn a_page_ends_where_the_next_begins() {
    let keyring = keyring();
    let first = open::<String>(&keyring, "limit=1").unwrap();
    let page = first.page(vec!["a", "b"], |last| (*last).to_owned()).unwrap();
    let query = format!("after={}", page.next_cursor().unwrap());
    assert_eq!(open::<String>(&keyring, &query).unwrap().after().unwrap(), "a");

    let long = first.page(vec!["a", "b"], |_| "x".repeat(1000));
    assert_eq!(long, Err(PositionTooLong));
    let values = open::<Vec<PositionValue>>(&keyring, "limit=1").unwrap();
    let page = values.page(vec![1, 2], |_| vec![PositionValue::Null]).unwrap();
    assert!(page.has_more());
}
