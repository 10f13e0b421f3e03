//! `cursors.json`.

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http_conventions::paging::{
    CursorBinding, CursorError, CursorKey, CursorKeyring, Direction, PositionValue,
};
use serde::Serialize;

use crate::file::{Case, VectorFile};

const NOW: u64 = 1_800_000_000;
const DAYS_3: u64 = 3 * 86_400;

/// Cursor, the keys that may have signed it, and the request that it is used for.
#[derive(Clone, Serialize)]
struct Input {
    cursor: String,
    /// Id and secret in hexadecimal; the first signs.
    keys: Vec<(u8, String)>,
    route: &'static str,
    principal: &'static str,
    sort: &'static str,
    filters: Vec<(&'static str, &'static str)>,
    now: u64,
}

/// Position of an opened cursor: its direction, and values with their types.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Opened {
    Position {
        direction: &'static str,
        values: Vec<Position>,
    },
    Invalid,
    Mismatched,
    Expired,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Position {
    Null,
    Bool(bool),
    /// As a decimal string.
    Integer(String),
    Text(String),
    /// In hexadecimal.
    Bytes(String),
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn keyring(ids: &[u8]) -> CursorKeyring {
    let key = |id: u8| CursorKey::new(id, [id; 32]);
    let (first, others) = ids.split_first().unwrap();
    let ring = CursorKeyring::new(key(*first));
    others.iter().fold(ring, |ring, id| ring.with_previous(key(*id)))
}

fn binding(input: &Input) -> CursorBinding {
    let binding = CursorBinding::new(input.route, input.principal).with_sort(input.sort);
    let filters = input.filters.iter();
    filters.fold(binding, |binding, (name, value)| binding.with_filter(name, value))
}

fn case(name: &str, input: &Input) -> Case<Input, Opened> {
    let ids: Vec<u8> = input.keys.iter().map(|(id, _)| *id).collect();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(input.now);
    let expect = match keyring(&ids).open(&input.cursor, &binding(input), now) {
        Ok(opened) => Opened::Position {
            direction: match opened.direction {
                Direction::Forward => "forward",
                Direction::Backward => "backward",
            },
            values: opened.values.into_iter().map(value).collect(),
        },
        Err(CursorError::Invalid) => Opened::Invalid,
        Err(CursorError::Mismatched) => Opened::Mismatched,
        Err(CursorError::Expired) => Opened::Expired,
        Err(other) => panic!("the format of docs/vectors has no name for {other:?}"),
    };
    Case::new(name, input.clone(), expect)
}

fn value(value: PositionValue) -> Position {
    match value {
        PositionValue::Null => Position::Null,
        PositionValue::Bool(value) => Position::Bool(value),
        PositionValue::Integer(integer) => Position::Integer(integer.to_string()),
        PositionValue::Text(text) => Position::Text(text),
        PositionValue::Bytes(bytes) => Position::Bytes(hex(&bytes)),
        other => panic!("the format of docs/vectors has no name for {other:?}"),
    }
}

fn sealed(values: &[PositionValue], direction: Direction) -> Input {
    let mut input = Input {
        cursor: String::new(),
        keys: vec![(1, hex(&[1; 32]))],
        route: "/v1/charges",
        principal: "acct_1",
        sort: "-created,id",
        filters: vec![("status", "paid"), ("currency", "eur")],
        now: NOW,
    };
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    let cursor = keyring(&[1]).seal(values, direction, &binding(&input), now);
    input.cursor = cursor.unwrap();
    input
}

/// H10: the file says which cursors open, and for which request.
#[test]
fn cursors_are_as_the_crate_opens_them() {
    let all = [
        PositionValue::Null,
        PositionValue::Bool(false),
        PositionValue::Bool(true),
        PositionValue::Integer(i64::MIN),
        PositionValue::Integer(1_700_000_000_123),
        PositionValue::Text("Z\u{fc}rich".to_owned()),
        PositionValue::Bytes(vec![0, 255]),
    ];
    let base = sealed(&all, Direction::Forward);
    let but = |name: &str, change: &dyn Fn(&mut Input)| {
        let mut changed = base.clone();
        change(&mut changed);
        case(name, &changed)
    };
    let flipped = |at: usize| {
        let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(&base.cursor).unwrap();
        bytes[at] ^= 1;
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    };
    let cases = [
        case("every type of value", &base),
        case("backward, without values", &sealed(&[], Direction::Backward)),
        but("filters in another order", &|input| input.filters.reverse()),
        but("without a filter", &|input| input.filters.truncate(1)),
        but("another value of a filter", &|input| {
            input.filters[0] = ("status", "open");
        }),
        but("another sort order", &|input| input.sort = "created,id"),
        but("another caller", &|input| input.principal = "acct_2"),
        but("another collection", &|input| input.route = "/v1/refunds"),
        but("the last second of its life", &|input| {
            input.now = NOW + DAYS_3 - 1;
        }),
        but("expired", &|input| input.now = NOW + DAYS_3),
        but("expired, of another caller", &|input| {
            (input.now, input.principal) = (NOW + DAYS_3, "acct_2");
        }),
        but("a rotated key", &|input| input.keys.insert(0, (2, hex(&[2; 32])))),
        but("another key", &|input| input.keys = vec![(2, hex(&[2; 32]))]),
        but("another version", &|input| input.cursor = flipped(0)),
        but("another key id", &|input| input.cursor = flipped(1)),
        but("another direction", &|input| input.cursor = flipped(2)),
        but("a later expiry", &|input| input.cursor = flipped(9)),
        but("a changed tag", &|input| {
            let length = BASE64_URL_SAFE_NO_PAD.decode(&base.cursor).unwrap().len();
            input.cursor = flipped(length - 1);
        }),
        but("padding", &|input| input.cursor.push('=')),
        but("an empty cursor", &|input| input.cursor.clear()),
        but("513 characters", &|input| input.cursor = "A".repeat(513)),
    ];
    VectorFile::new("cursors.json", "Sealed cursors of lists")
        .with_cases("cases", &cases)
        .check();
}
