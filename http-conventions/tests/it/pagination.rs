//! Page requests, cursors and pages.

use std::time::{Duration, SystemTime};

use http_conventions::{
    errors::{ProblemBase, ReceivedProblem},
    paging::{
        CursorBinding, CursorError, CursorKey, CursorKeyring, Direction, InvalidPageRules, Page, PageRules,
        PositionTooLong, PositionValue,
    },
};
use proptest::prelude::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn keyring() -> CursorKeyring {
    CursorKeyring::new(CursorKey::new(1, [7; 32]))
}

fn binding() -> CursorBinding {
    CursorBinding::new("/v1/charges", "user-7")
        .with_sort("-created,id")
        .with_filter("status", "paid")
}

fn position() -> Vec<PositionValue> {
    vec![
        PositionValue::Integer(1_799_999_999),
        PositionValue::from("ch_42"),
    ]
}

fn seal(keyring: &CursorKeyring) -> String {
    keyring
        .seal(&position(), Direction::Forward, &binding(), now())
        .unwrap()
}

fn slug(problem: http_conventions::errors::Problem) -> (u16, String, String) {
    let response = problem.into_response();
    let problem = ReceivedProblem::parse(response.body()).unwrap();
    let parameter = problem
        .extension("parameter")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    let slug = problem
        .type_uri()
        .strip_prefix("https://api.example.com/problems/")
        .unwrap()
        .to_owned();
    (response.status().as_u16(), slug, parameter)
}

fn base() -> ProblemBase {
    ProblemBase::new("https://api.example.com/problems/").unwrap()
}

/// H10: limit defaults to 20 and has a maximum of 100; any other value is a 400 that names the
/// parameter.
#[test]
fn a_limit_is_in_range_or_refused() {
    let rules = PageRules::default();
    for (query, limit) in [
        (None, 20),
        (Some(""), 20),
        (Some("limit=1"), 1),
        (Some("limit=100"), 100),
        (Some("limit=%31%30"), 10),
    ] {
        assert_eq!(rules.parse(query).unwrap().limit.get(), limit);
    }
    for query in [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=+5",
        "limit=",
        "limit=ten",
        "limit=5.0",
        "limit=%205",
        "limit=99999999999999999999",
        "limit=5&limit=5",
    ] {
        let refused = rules.parse(Some(query)).unwrap_err();
        let expected = (400, "invalid-page-request".to_owned(), "limit".to_owned());
        assert_eq!(slug(refused.problem(&base())), expected, "{query}");
    }
    assert_eq!(
        PageRules::new(5, 10).unwrap().parse(None).unwrap().limit.fetch(),
        6
    );
    assert_eq!(PageRules::new(0, 10), Err(InvalidPageRules));
    assert_eq!(PageRules::new(11, 10), Err(InvalidPageRules));
}

/// H10: after is accepted once and not empty; filters belong to the host.
#[test]
fn after_is_read_beside_filters() {
    let rules = PageRules::default();
    let request = rules
        .parse(Some("status=paid&after=abc&after_id=x&limit=3"))
        .unwrap();
    assert_eq!(request.after.as_deref(), Some("abc"));
    assert_eq!(rules.parse(Some("status=paid")).unwrap().after, None);
    for query in ["after=", "after", "after=a&after=b"] {
        let refused = rules.parse(Some(query)).unwrap_err();
        assert_eq!(slug(refused.problem(&base())).2, "after", "{query}");
    }
}

/// H10: a cursor is opaque, URL-safe, at most 512 characters long, and restores its position and
/// direction.
#[test]
fn a_cursor_leads_back_to_its_position() {
    let values = vec![
        PositionValue::Null,
        PositionValue::Bool(true),
        PositionValue::Integer(i64::MIN),
        PositionValue::from("\u{1F980}"),
        PositionValue::Bytes(vec![0, 255]),
    ];
    for direction in [Direction::Forward, Direction::Backward] {
        let cursor = keyring().seal(&values, direction, &binding(), now()).unwrap();
        assert!(
            cursor
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        let opened = keyring().open(&cursor, &binding(), now()).unwrap();
        assert_eq!((opened.values, opened.direction), (values.clone(), direction));
    }
}

/// H10: clients keep cursors over a release, so their form never changes. The value was computed
/// independently of this crate.
#[test]
fn the_form_of_a_cursor_never_changes() {
    let cursor = "AQEAAAAAAGtNxoDuqSsjQ9knjArYml0pEaUiAwAAAABrSdH_BAAFY2hfNDL3fv-2pdh5-pRChVA7XOYW";
    assert_eq!(seal(&keyring()), cursor);
    assert_eq!(
        keyring().open(cursor, &binding(), now()).unwrap().values,
        position()
    );
}

/// H10: cursors have at most 512 characters; longer ones are refused unread.
#[test]
fn a_cursor_has_at_most_512_characters() {
    let seal = |length: usize| {
        let value = PositionValue::Text("x".repeat(length));
        keyring().seal(&[value], Direction::Forward, &binding(), now())
    };
    // 384 bytes minus version, key, direction, expiry, binding, tag, and the tag and length of the
    // value
    let longest = 384 - 27 - 16 - 3;
    assert_eq!(seal(longest).unwrap().len(), 512);
    for length in longest - 4..=longest {
        let opened = keyring().open(&seal(length).unwrap(), &binding(), now()).unwrap();
        assert_eq!(opened.values, [PositionValue::Text("x".repeat(length))]);
    }
    assert_eq!(seal(longest + 1), Err(PositionTooLong));
    assert_eq!(seal(100_000), Err(PositionTooLong));
    assert_eq!(
        keyring().open(&"A".repeat(1 << 20), &binding(), now()),
        Err(CursorError::Invalid)
    );
}

/// H10: a cursor of another route, principal, sort or filter is a mismatch, also if parts could be
/// joined in two ways.
#[test]
fn a_cursor_works_only_for_the_request_it_came_from() {
    let cursor = seal(&keyring());
    let others = [
        CursorBinding::new("/v1/refunds", "user-7")
            .with_sort("-created,id")
            .with_filter("status", "paid"),
        CursorBinding::new("/v1/charges", "user-8")
            .with_sort("-created,id")
            .with_filter("status", "paid"),
        CursorBinding::new("/v1/charges", "user-7")
            .with_sort("created,id")
            .with_filter("status", "paid"),
        CursorBinding::new("/v1/charges", "user-7")
            .with_sort("-created,id")
            .with_filter("status", "open"),
        CursorBinding::new("/v1/charges", "user-7")
            .with_sort("-created,id")
            .with_filter("statu", "spaid"),
        CursorBinding::new("/v1/charges", "user-7").with_sort("-created,id"),
        CursorBinding::new("/v1/charge", "suser-7")
            .with_sort("-created,id")
            .with_filter("status", "paid"),
        binding().with_filter("currency", "eur"),
    ];
    for other in others {
        assert_eq!(
            keyring().open(&cursor, &other, now()),
            Err(CursorError::Mismatched),
            "{other:?}"
        );
    }
}

/// H10: the order of filters does not matter.
#[test]
fn filters_are_a_set() {
    let one = binding().with_filter("currency", "eur");
    let other = CursorBinding::new("/v1/charges", "user-7")
        .with_filter("currency", "eur")
        .with_filter("status", "paid")
        .with_sort("-created,id");
    let cursor = keyring()
        .seal(&position(), Direction::Forward, &one, now())
        .unwrap();
    assert!(keyring().open(&cursor, &other, now()).is_ok());
}

/// H10: a cursor expires at the exact second its lifetime ends.
#[test]
fn a_cursor_expires() {
    let keyring = keyring().with_lifetime(DAY);
    let cursor = seal(&keyring);
    assert!(
        keyring
            .open(&cursor, &binding(), now() + DAY - Duration::from_millis(1))
            .is_ok()
    );
    assert_eq!(
        keyring.open(&cursor, &binding(), now() + DAY),
        Err(CursorError::Expired)
    );
    let forever = keyring.with_lifetime(Duration::MAX);
    assert!(
        forever
            .open(&seal(&forever), &binding(), now() + DAY * 365_000)
            .is_ok()
    );
}

/// H10: keys rotate; a cursor of a removed key, or of a key with the same id, is invalid.
#[test]
fn a_previous_key_still_opens_its_cursors() {
    let old = seal(&keyring());
    let rotated = CursorKeyring::new(CursorKey::new(2, [8; 32])).with_previous(CursorKey::new(1, [7; 32]));
    assert!(rotated.open(&old, &binding(), now()).is_ok());
    assert_eq!(
        keyring().open(&seal(&rotated), &binding(), now()),
        Err(CursorError::Invalid)
    );
    let gone = CursorKeyring::new(CursorKey::new(2, [8; 32]));
    assert_eq!(gone.open(&old, &binding(), now()), Err(CursorError::Invalid));
    let impostor = CursorKeyring::new(CursorKey::new(1, [9; 32]));
    assert_eq!(impostor.open(&old, &binding(), now()), Err(CursorError::Invalid));
    // a rotation that keeps the id opens older cursors
    let kept_id = impostor.with_previous(CursorKey::new(1, [7; 32]));
    assert!(kept_id.open(&old, &binding(), now()).is_ok());
}

/// H10: a cursor with any changed character is invalid.
#[test]
fn every_changed_character_makes_a_cursor_invalid() {
    let cursor = seal(&keyring());
    for at in 0..cursor.len() {
        for other in ['A', 'b', '9', '-', '_', '=', '+', '\u{e9}'] {
            let mut changed: Vec<char> = cursor.chars().collect();
            if changed[at] == other {
                continue;
            }
            changed[at] = other;
            let changed: String = changed.into_iter().collect();
            assert_eq!(
                keyring().open(&changed, &binding(), now()),
                Err(CursorError::Invalid),
                "{at} {other}"
            );
        }
        assert_eq!(
            keyring().open(cursor.get(..at).unwrap(), &binding(), now()),
            Err(CursorError::Invalid)
        );
    }
    assert_eq!(
        keyring().open(&format!("{cursor}A"), &binding(), now()),
        Err(CursorError::Invalid)
    );
    assert_eq!(
        keyring().open(&format!("{cursor}="), &binding(), now()),
        Err(CursorError::Invalid)
    );
}

/// H10: invalid, expired and mismatched cursors are 400s with their own types. H12: a bad cursor is
/// never a 500.
#[test]
fn each_cursor_error_has_its_own_problem_type() {
    for (error, expected) in [
        (CursorError::Invalid, "invalid-cursor"),
        (CursorError::Expired, "expired-cursor"),
        (CursorError::Mismatched, "cursor-mismatch"),
    ] {
        assert_eq!(
            slug(error.problem(&base())),
            (400, expected.to_owned(), "after".to_owned())
        );
    }
}

/// H10: the envelope is exactly data, has_more and next_cursor.
#[test]
fn a_page_has_exactly_three_members() {
    let limit = PageRules::default().parse(Some("limit=2")).unwrap().limit;
    let json = |rows: Vec<u8>| {
        let page = Page::from_rows(rows, limit, |row| {
            Ok::<_, PositionTooLong>(format!("after-{row}"))
        })
        .unwrap();
        assert_eq!(page.has_more(), page.next_cursor().is_some());
        serde_json::to_string(&page.map(|row| row * 10)).unwrap()
    };
    assert_eq!(json(vec![]), r#"{"data":[],"has_more":false,"next_cursor":null}"#);
    assert_eq!(
        json(vec![1]),
        r#"{"data":[10],"has_more":false,"next_cursor":null}"#
    );
    assert_eq!(
        json(vec![1, 2]),
        r#"{"data":[10,20],"has_more":false,"next_cursor":null}"#
    );
    assert_eq!(
        json(vec![1, 2, 3]),
        r#"{"data":[10,20],"has_more":true,"next_cursor":"after-2"}"#
    );

    let failed = Page::from_rows(vec![1, 2, 3], limit, |_| Err(PositionTooLong));
    assert_eq!(failed, Err(PositionTooLong));
}

/// H10: a walk over all pages yields every row once, in order, for every page size.
#[test]
fn pages_yield_every_row_once() {
    let rows: Vec<i64> = (0..57).map(|row| row * 3).collect();
    for size in 1..=60 {
        let (mut seen, mut query) = (Vec::new(), format!("limit={size}"));
        loop {
            let request = PageRules::default().parse(Some(&query)).unwrap();
            let after = request.after.map_or(i64::MIN, |cursor| {
                let opened = keyring().open(&cursor, &binding(), now()).unwrap();
                let [PositionValue::Integer(after)] = opened.values[..] else {
                    panic!("another position")
                };
                after
            });
            let fetched = rows
                .iter()
                .copied()
                .filter(|row| *row > after)
                .take(request.limit.fetch())
                .collect();
            let page = Page::from_rows(fetched, request.limit, |row| {
                keyring().seal(
                    &[PositionValue::Integer(*row)],
                    Direction::Forward,
                    &binding(),
                    now(),
                )
            });
            let page = page.unwrap();
            seen.extend_from_slice(page.data());
            let Some(cursor) = page.next_cursor() else { break };
            query = format!("after={cursor}&limit={size}");
        }
        assert_eq!(seen, rows);
    }
}

#[test]
fn a_cursor_key_is_not_shown() {
    let shown = format!("{:?}", keyring());
    assert!(!shown.contains("[7") && !shown.contains("7, 7"), "{shown}");
}

proptest! {
    #[test]
    fn opening_never_panics(cursor: String, bytes: Vec<u8>) {
        use base64::Engine as _;
        let encoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
        for cursor in [cursor, encoded] {
            prop_assert_eq!(keyring().open(&cursor, &binding(), now()), Err(CursorError::Invalid));
        }
    }

    #[test]
    fn parsing_a_query_never_panics(query: String) {
        let _parsed = PageRules::default().parse(Some(&query));
    }
}
