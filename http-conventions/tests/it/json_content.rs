//! JSON content is read into types with all faults at once.

use std::collections::{BTreeMap, HashSet};

use http_conventions::content::{Faults, JsonReader};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub(crate) fn faults<T: DeserializeOwned>(content: &Value) -> Faults {
    let read = JsonReader::new().read_value::<T>(content);
    assert!(read.is_err(), "{content} is read");
    read.err().unwrap()
}

/// Asserts pointer and code of each fault, in any order, and that there are no more.
pub(crate) fn check<T: DeserializeOwned>(content: &Value, expected: &[(&str, &str)]) {
    let faults = faults::<T>(content);
    let found: HashSet<_> = faults
        .all()
        .iter()
        .map(|fault| (fault.pointer(), fault.code()))
        .collect();
    assert_eq!(found, expected.iter().copied().collect(), "{content}");
    assert_eq!(faults.all().len(), expected.len(), "{content}");
    assert!(faults.is_complete(), "{content}");
}

fn detail<T: DeserializeOwned>(content: &Value) -> String {
    let faults = faults::<T>(content);
    assert_eq!(faults.all().len(), 1, "{faults:?}");
    faults.all().first().unwrap().detail().to_owned()
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    number: u32,
    express: bool,
    price: f64,
    note: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    address: Address,
    lines: Vec<Line>,
    #[serde(default)]
    labels: BTreeMap<String, i8>,
    payment: Payment,
}

#[derive(Debug, Deserialize, PartialEq)]
pub(crate) struct Address {
    street: String,
    at: (f32, f32),
    zip: [u8; 2],
}

#[derive(Debug, Deserialize, PartialEq)]
pub(crate) struct Line {
    item: String,
    count: u8,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Payment {
    Cash,
    Card { digits: u16 },
    Voucher(String),
    Split(u8, u8),
}

pub(crate) fn order() -> Value {
    json!({
        "number": 1, "express": true, "price": 1.5, "note": null, "tags": ["a"],
        "address": {"street": "x", "at": [1, 2.5], "zip": [1, 2]},
        "lines": [{"item": "tea", "count": 1}],
        "labels": {"a": -1},
        "payment": {"card": {"digits": 1234}},
    })
}

/// The order with these values at these pointers.
fn changed(changes: &[(&str, Value)]) -> Value {
    let mut order = order();
    for (pointer, value) in changes {
        *order.pointer_mut(pointer).unwrap() = value.clone();
    }
    order
}

/// H28: each fault of each kind of type has its own pointer, in one answer.
#[test]
fn all_faults_are_reported_at_once() {
    assert!(JsonReader::new().read_value::<Order>(&order()).is_ok());
    let content = json!({
        "number": "1", "express": 0, "price": [], "note": 7, "tags": ["a", {}, "b", null],
        "address": {"at": [1, "x"], "zip": [1, 256]},
        "lines": [{"item": "tea", "count": 1}, 7, {"count": -1}],
        "labels": {"a/b": 200, "~": false},
        "payment": {"card": {"digits": 1.5}},
        "surprise": 1,
    });
    check::<Order>(
        &content,
        &[
            ("/number", "wrong-type"),
            ("/express", "wrong-type"),
            ("/price", "wrong-type"),
            ("/note", "wrong-type"),
            ("/tags/1", "wrong-type"),
            ("/tags/3", "wrong-type"),
            ("/address/street", "missing"),
            ("/address/at/1", "wrong-type"),
            ("/address/zip/1", "out-of-range"),
            ("/lines/1", "wrong-type"),
            ("/lines/2/item", "missing"),
            ("/lines/2/count", "out-of-range"),
            ("/labels/a~1b", "out-of-range"),
            ("/labels/~0", "wrong-type"),
            ("/payment/card/digits", "wrong-type"),
            ("/surprise", "unknown-member"),
        ],
    );
    check::<Order>(&json!([]), &[("", "wrong-type")]);
    check::<Order>(
        &json!({}),
        &[
            ("/number", "missing"),
            ("/express", "missing"),
            ("/price", "missing"),
            ("/address", "missing"),
            ("/lines", "missing"),
            ("/payment", "missing"),
        ],
    );
}

/// H28: a whole object, array or enum of the wrong type is one fault, whatever it contains.
#[test]
fn compound_of_wrong_type_is_one_fault() {
    for (pointer, value, code) in [
        ("/address", json!("x"), "wrong-type"),
        ("/address", json!([1, 2]), "wrong-type"),
        ("/address/at", json!({}), "wrong-type"),
        ("/address/at", json!([1]), "wrong-length"),
        ("/address/at", json!([1, 2, 3]), "wrong-length"),
        ("/lines", json!({"0": {}}), "wrong-type"),
        ("/labels", json!([]), "wrong-type"),
        ("/payment", json!(7), "wrong-type"),
        ("/payment", json!("bill"), "unknown-value"),
        ("/payment", json!({"bill": {"digits": "x"}}), "unknown-value"),
        ("/payment", json!("card"), "wrong-type"),
        ("/payment", json!("split"), "wrong-type"),
        ("/payment", json!({}), "wrong-length"),
        ("/payment", json!({"cash": null, "card": {}}), "wrong-length"),
        ("/payment", json!({"voucher": 7}), "wrong-type"),
    ] {
        let pointer_of_content = match &value {
            Value::Object(members) if members.contains_key("voucher") => "/payment/voucher",
            _ => pointer,
        };
        let content = changed(&[(pointer, value), ("/price", json!(null))]);
        check::<Order>(&content, &[(pointer_of_content, code), ("/price", "wrong-type")]);
    }
    check::<Order>(
        &changed(&[("/payment", json!({"cash": 1}))]),
        &[("/payment/cash", "wrong-type")],
    );
    check::<Order>(
        &changed(&[("/payment", json!({"split": [1, "2"]}))]),
        &[("/payment/split/1", "wrong-type")],
    );
}

/// H28: details name JSON types and ranges, in the words of this crate.
#[test]
fn details_use_words_of_json() {
    for (content, expected) in [
        (json!("x"), "expected an integer, found a string"),
        (json!(null), "expected an integer, found null"),
        (json!([]), "expected an integer, found an array"),
        (json!(1.5), "expected an integer, found a number with a fraction"),
        (json!(-1), "must be an integer from 0 to 255"),
        (json!(256), "must be an integer from 0 to 255"),
        (json!(1e300), "must be an integer from 0 to 255"),
        (json!(u64::MAX), "must be an integer from 0 to 255"),
    ] {
        assert_eq!(detail::<u8>(&content), expected, "{content}");
    }
    assert_eq!(
        detail::<i64>(&json!(u64::MAX)),
        "must be an integer from -9223372036854775808 to 9223372036854775807"
    );
    assert_eq!(
        detail::<Vec<u8>>(&json!({})),
        "expected an array, found an object"
    );
    assert_eq!(detail::<char>(&json!("ab")), "must be one character");
    assert_eq!(
        detail::<Payment>(&json!("bill")),
        "must be one of `cash`, `card`, `voucher`, `split`"
    );
    assert_eq!(
        detail::<(u8, u8)>(&json!([1, 2, 3])),
        "a length of 3 is not accepted here"
    );
}
