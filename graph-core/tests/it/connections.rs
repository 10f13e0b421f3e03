//! Pages of a list, in both directions.

use std::time::{Duration, SystemTime};

use graph_core::connection::{CursorKey, Cursors, FieldCursors, PageArguments, PageLimits, PageRequest};
use graph_core::{ErrorCode, GraphError, Principal};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{codes, fixture, read_rows, stock};

fn cursors() -> Cursors {
    Cursors::new(CursorKey::try_from([3; 32].as_slice()).unwrap())
}

fn request(arguments: PageArguments) -> Result<PageRequest, GraphError> {
    cursors()
        .field("Query.stock")
        .request(PageLimits::default(), arguments)
}

/// Cursor of the item `id`.
fn cursor(id: i32) -> String {
    let arguments = PageArguments {
        first: Some(100),
        ..PageArguments::default()
    };
    let page = request(arguments)
        .unwrap()
        .slice(stock(), |item| item.id.to_string())
        .unwrap();
    page.edges()[usize::try_from(id).unwrap() - 1].cursor().to_owned()
}

/// G12: a connection has the shape that Relay requires.
#[tokio::test]
async fn a_connection_has_edges_nodes_cursors_and_page_info() {
    let shop = fixture();
    let query = "{ stock(first: 2) { edges { cursor node { id } } \
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }";
    let answer = shop.ask(query).await;
    let stock = &answer["data"]["stock"];
    let ids: Vec<_> = stock["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| edge["node"]["id"].clone())
        .collect();
    assert_eq!(ids, [1, 2]);
    let expected = json!({
        "hasNextPage": true,
        "hasPreviousPage": false,
        "startCursor": stock["edges"][0]["cursor"],
        "endCursor": stock["edges"][1]["cursor"],
    });
    assert_eq!(stock["pageInfo"], expected);
}

/// G12: a client pages through the whole list, forwards and backwards, over slices and over rows of
/// a store.
#[tokio::test]
async fn a_client_walks_the_whole_list_both_ways() {
    let shop = fixture();
    for field in ["stock", "rows"] {
        for (count, from, flag, cursor) in [
            ("first", "after", "hasNextPage", "endCursor"),
            ("last", "before", "hasPreviousPage", "startCursor"),
        ] {
            let (mut seen, mut arguments) = (Vec::new(), format!("{count}: 7"));
            loop {
                let query = format!(
                    "{{ {field}({arguments}) {{ edges {{ node {{ id }} }} pageInfo {{ {flag} {cursor} }} }} }}"
                );
                let answer = shop.ask(&query).await;
                let page = &answer["data"][field];
                let mut ids: Vec<_> = page["edges"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|edge| edge["node"]["id"].as_i64().unwrap())
                    .collect();
                if count == "last" {
                    ids.reverse();
                }
                seen.extend(ids);
                if page["pageInfo"][flag] == json!(false) {
                    break;
                }
                arguments = format!("{count}: 7, {from}: {}", page["pageInfo"][cursor]);
            }
            if count == "last" {
                seen.reverse();
            }
            assert_eq!(seen, (1..=30).collect::<Vec<i64>>(), "{field} {count}");
        }
    }
}

/// G12: without a size a page has the field's default; the default of `rows` is five.
#[tokio::test]
async fn a_page_has_a_default_size() {
    let shop = fixture();
    let answer = shop
        .ask("{ stock { edges { node { id } } } rows { edges { node { id } } } }")
        .await;
    assert_eq!(answer["data"]["stock"]["edges"].as_array().unwrap().len(), 20);
    assert_eq!(answer["data"]["rows"]["edges"].as_array().unwrap().len(), 5);
}

/// G12: `first` with `last`, a negative size, a size above the maximum and an invalid cursor are
/// BAD_USER_INPUT.
#[tokio::test]
async fn wrong_paging_arguments_are_bad_user_input() {
    let shop = fixture();
    for arguments in [
        "first: 1, last: 1",
        "first: -1",
        "last: -1",
        "first: 101",
        "last: 101",
        "first: 2147483647",
        "first: -2147483648",
        "after: \"\"",
        "after: \"x\"",
        "before: \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
    ] {
        let answer = shop
            .ask(&format!("{{ ping stock({arguments}) {{ edges {{ cursor }} }} }}"))
            .await;
        // the cost of the largest page exceeds the budget of the operation
        let expected = if arguments == "first: 2147483647" {
            "MAX_COST_EXCEEDED"
        } else {
            "BAD_USER_INPUT"
        };
        assert_eq!(codes(&answer), [expected], "{arguments}");
    }
    let answer = shop
        .ask("{ a: stock(first: 0) { edges { cursor } pageInfo { hasNextPage endCursor } } }")
        .await;
    assert_eq!(
        answer["data"]["a"],
        json!({ "edges": [], "pageInfo": { "hasNextPage": true, "endCursor": null } })
    );
}

/// G12: a cursor of another field, other arguments or another key is refused, also with any single
/// bit flipped.
#[test]
fn a_cursor_is_bound_to_its_field_and_arguments() {
    let after = |cursor: &str| PageArguments {
        after: Some(cursor.to_owned()),
        ..PageArguments::default()
    };
    let limits = PageLimits::default();
    let paid = || cursors().field("Query.charges").bind_to("status", "paid");
    let page = paid().request(limits, PageArguments::default()).unwrap();
    let page = page.slice(vec!["a", "b"], |item| (*item).to_owned()).unwrap();
    let cursor = page.edges()[0].cursor();
    assert_eq!(paid().request(limits, after(cursor)).unwrap().after(), Some("a"));

    let other_key = Cursors::new(CursorKey::try_from([4; 32].as_slice()).unwrap());
    for field in [
        cursors().field("Query.charges"),
        cursors().field("Query.charges").bind_to("status", "open"),
        cursors().field("Query.charges").bind_to("state", "paid"),
        cursors().field("Query.charges").bind_to("statusp", "aid"),
        cursors().field("Query.refunds").bind_to("status", "paid"),
        other_key.field("Query.charges").bind_to("status", "paid"),
    ] {
        let refused = field.request(limits, after(cursor)).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BadUserInput);
    }
    for at in 0..cursor.len() {
        let mut forged = cursor.as_bytes().to_vec();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).unwrap();
        assert!(paid().request(limits, after(&forged)).is_err(), "{forged}");
    }
}

/// G12: after a key rotation old cursors work until the host drops the old key.
#[test]
fn a_cursor_of_the_key_of_before_is_opened() {
    let key = |byte: u8| CursorKey::try_from([byte; 32].as_slice()).unwrap();
    let (before, rotated) = (Cursors::new(key(3)), Cursors::new(key(4)).with_previous(key(3)));
    let limits = PageLimits::default();
    let opens = |cursors: &Cursors, cursor: &str| {
        let after = PageArguments {
            after: Some(cursor.to_owned()),
            ..PageArguments::default()
        };
        cursors.field("Query.charges").request(limits, after).is_ok()
    };
    let made = |cursors: &Cursors| {
        let request = cursors
            .field("Query.charges")
            .request(limits, PageArguments::default());
        let page = request.unwrap().slice(vec!["a"], |item| (*item).to_owned());
        page.unwrap().edges()[0].cursor().to_owned()
    };
    assert!(opens(&rotated, &made(&before)));
    assert!(opens(&rotated, &made(&rotated)));
    assert!(!opens(&before, &made(&rotated)));
    assert!(!opens(&Cursors::new(key(4)), &made(&before)));
}

/// G12: a cursor expires to the second; its expiry cannot be changed, removed or added.
#[test]
fn a_cursor_ends() {
    let minute = Duration::from_secs(60);
    let at = |seconds: u64| {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        cursors().field("Query.charges").expire_after(now, minute)
    };
    let cursor_of = |field: FieldCursors| {
        let made = field
            .request(PageLimits::default(), PageArguments::default())
            .unwrap();
        made.rows(vec!["a"], |name| (*name).to_owned()).edges()[0]
            .cursor()
            .to_owned()
    };
    let refused = |field: FieldCursors, cursor: &str| {
        let after = Some(cursor.to_owned());
        let request = field.request(
            PageLimits::default(),
            PageArguments {
                after,
                ..PageArguments::default()
            },
        );
        request.err().map(|refused| refused.message().to_owned())
    };
    let cursor = cursor_of(at(1000));
    assert_eq!(refused(at(1000), &cursor), None);
    assert_eq!(refused(at(1059), &cursor), None);
    assert!(refused(at(1060), &cursor).unwrap().contains("has expired"));
    let foreign = |why: Option<String>| why.unwrap().contains("not a cursor");
    // with an expiry for a cursor that has none, and without one for a cursor that has it
    assert!(foreign(refused(cursors().field("Query.charges"), &cursor)));
    assert!(foreign(refused(
        at(1000),
        &cursor_of(cursors().field("Query.charges"))
    )));
    for at_byte in 0..cursor.len() {
        let mut forged = cursor.clone().into_bytes();
        forged[at_byte] = if forged[at_byte] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).unwrap();
        assert!(foreign(refused(at(1060), &forged)), "{forged}");
    }
    // a clock before 1970, and an unlimited lifetime
    let early = SystemTime::UNIX_EPOCH - minute;
    let eternal = cursors()
        .field("Query.charges")
        .expire_after(early, Duration::MAX);
    assert_eq!(refused(eternal.clone(), &cursor_of(eternal)), None);
}

/// G12: a cursor of one principal is refused for another and for anonymous clients.
#[test]
fn a_cursor_is_bound_to_who_asks() {
    let (ada, bob, empty) = (Principal::new("ada"), Principal::new("bob"), Principal::new(""));
    let everybody = [Some(&ada), Some(&bob), Some(&empty), None];
    for (made_for, maker) in everybody.iter().enumerate() {
        let field = |principal: Option<&Principal>| cursors().field("Query.own").bind_to_principal(principal);
        let made = field(*maker)
            .request(PageLimits::default(), PageArguments::default())
            .unwrap();
        let page = made.rows(vec!["a"], |name| (*name).to_owned());
        let after = Some(page.edges()[0].cursor().to_owned());
        for (asked_by, asker) in everybody.iter().enumerate() {
            let arguments = PageArguments {
                after: after.clone(),
                ..PageArguments::default()
            };
            let request = field(*asker).request(PageLimits::default(), arguments);
            assert_eq!(request.is_ok(), made_for == asked_by, "{maker:?} {asker:?}");
        }
    }
}

/// G12: a key shorter than 32 bytes is refused, and `Debug` does not show the key.
#[test]
fn a_cursor_key_is_long_and_secret() {
    assert!(CursorKey::try_from([0; 31].as_slice()).is_err());
    let key = CursorKey::try_from([65; 32].as_slice()).unwrap();
    let shown = format!("{key:?} {:?}", Cursors::new(key.clone()));
    assert!(!shown.contains("65") && !shown.contains("AAAA"), "{shown}");
}

/// G12: a cursor of a removed entry is an error, and not the start of the list.
#[test]
fn a_cursor_of_a_gone_entry_is_refused() {
    let gone = request(PageArguments {
        after: Some(cursor(5)),
        ..PageArguments::default()
    })
    .unwrap();
    let rest = stock().into_iter().filter(|item| item.id != 5).collect();
    let refused = gone.slice(rest, |item| item.id.to_string()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::BadUserInput);
}

/// Reference algorithm of the Relay specification: edges after and before, then the first or last
/// of them.
fn relay(
    after: Option<i32>,
    before: Option<i32>,
    first: Option<usize>,
    last: Option<usize>,
) -> (Vec<i32>, bool, bool) {
    let mut edges: Vec<i32> = (1..=30).collect();
    edges.retain(|id| after.is_none_or(|after| *id > after) && before.is_none_or(|before| *id < before));
    let between = edges.len();
    if let Some(first) = first {
        edges.truncate(first);
    }
    if let Some(last) = last {
        edges.drain(..edges.len().saturating_sub(last));
    }
    let more_behind = first.is_some_and(|first| between > first);
    let more_in_front = last.is_some_and(|last| between > last);
    (edges, more_in_front, more_behind)
}

proptest! {
    /// G12: slices and rows match the Relay algorithm; the flag in the opposite direction reflects
    /// the cursor.
    #[test]
    fn pages_are_those_of_the_relay_algorithm(
        after in proptest::option::of(1..=30_i32),
        before in proptest::option::of(1..=30_i32),
        size in 0..=35_i32,
        forward: bool,
    ) {
        prop_assume!(after.zip(before).is_none_or(|(after, before)| after < before));
        let arguments = PageArguments {
            first: forward.then_some(size),
            last: (!forward).then_some(size),
            after: after.map(cursor),
            before: before.map(cursor),
        };
        let count = usize::try_from(size).unwrap();
        let (expected, in_front, behind) = relay(after, before, forward.then_some(count), (!forward).then_some(count));
        let request = request(arguments).unwrap();
        let slice = request.slice(stock(), |item| item.id.to_string()).unwrap();
        let rows = read_rows(&request);
        for page in [&slice, &rows] {
            prop_assert_eq!(page.nodes().map(|item| item.id).collect::<Vec<_>>(), expected.clone());
            let info = page.page_info();
            prop_assert_eq!(info.start_cursor(), page.edges().first().map(|edge| edge.cursor()));
            prop_assert_eq!(info.end_cursor(), page.edges().last().map(|edge| edge.cursor()));
            let (next, previous) = (info.has_next_page(), info.has_previous_page());
            if forward {
                prop_assert_eq!(next, behind || before.is_some());
            } else {
                prop_assert_eq!(previous, in_front || after.is_some());
            }
        }
        if let (Some(start), Some(end)) = (expected.first(), expected.last()) {
            prop_assert_eq!(slice.page_info().has_previous_page(), *start > 1);
            prop_assert_eq!(slice.page_info().has_next_page(), *end < 30);
        }
    }

    /// G12, G19: no text makes a page panic, and only signed cursors are accepted.
    #[test]
    fn no_text_is_a_cursor(text in "\\PC{0,80}", encoded in "[A-Za-z0-9_-]{0,80}") {
        for cursor in [text, encoded] {
            let arguments = PageArguments { after: Some(cursor), ..PageArguments::default() };
            prop_assert!(request(arguments).is_err());
        }
    }
}

/// G12: a client that sends only `before` gets the entries next to that cursor.
#[test]
fn before_alone_reads_backwards() {
    let page = request(PageArguments {
        before: Some(cursor(30)),
        ..PageArguments::default()
    })
    .unwrap();
    let page = page.slice(stock(), |item| item.id.to_string()).unwrap();
    assert_eq!(
        page.nodes().map(|item| item.id).collect::<Vec<_>>(),
        (10..=29).collect::<Vec<_>>()
    );
}

/// G12: a null page argument counts as absent.
#[tokio::test]
async fn null_paging_arguments_are_absent() {
    let answer: Value = fixture()
        .ask("{ stock(first: null, after: null, last: 1) { edges { node { id } } } }")
        .await;
    assert_eq!(
        answer["data"]["stock"]["edges"],
        json!([{ "node": { "id": 30 } }])
    );
}
