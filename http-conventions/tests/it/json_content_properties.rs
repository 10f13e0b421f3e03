//! The reader of JSON content compared with serde_json.

use std::collections::HashSet;

use http_conventions::content::JsonReader;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::json_content::{Line, Order, order};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..400).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-2.0..2.0_f64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        prop_oneof![Just("cash"), Just("card"), Just("split")].prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("number"),
        Just("express"),
        Just("price"),
        Just("note"),
        Just("tags"),
        Just("address"),
        Just("street"),
        Just("at"),
        Just("zip"),
        Just("lines"),
        Just("item"),
        Just("count"),
        Just("labels"),
        Just("payment"),
        Just("card"),
        Just("digits"),
        Just("voucher"),
        Just("split"),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Pointers of all values.
fn pointers(value: &Value, pointer: &str, all: &mut Vec<String>) {
    all.push(pointer.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{pointer}/{index}"), all);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                pointers(member, &format!("{pointer}/{name}"), all);
            }
        }
        _ => {}
    }
}

proptest! {
    /// H28: a value is accepted exactly if serde_json accepts it, with the same result.
    #[test]
    fn reader_accepts_what_serde_json_accepts(change in any_json(), at in any::<prop::sample::Index>()) {
        let mut content = order();
        let mut all = Vec::new();
        pointers(&content, "", &mut all);
        let pointer = at.get(&all);
        *content.pointer_mut(pointer).unwrap() = change;
        let read = JsonReader::new().read_value::<Order>(&content);
        let reference = serde_json::from_value::<Order>(content.clone());
        match (read, reference) {
            (Ok(read), Ok(reference)) => prop_assert_eq!(read, reference),
            (Err(faults), Err(_)) => {
                prop_assert!(!faults.all().is_empty());
                for fault in faults.all() {
                    let (parent, _) = fault.pointer().rsplit_once('/').unwrap_or_default();
                    prop_assert!(content.pointer(parent).is_some(), "{}", fault.pointer());
                }
            }
            // serde reads a struct from an array too
            (Err(faults), Ok(_)) => {
                prop_assert!(faults.all().iter().any(|fault| fault.detail() == "expected an object, found an array"));
            }
            (Ok(_), Err(error)) => prop_assert!(false, "{content}: {error}"),
        }
    }

    /// H28: one faulty member more is one fault more, at its pointer.
    #[test]
    fn each_faulty_member_is_one_fault(faulty in proptest::collection::btree_set(0_usize..30, 0..20)) {
        let items = (0..30_usize).map(|index| match faulty.contains(&index) {
            false => json!({"item": "tea", "count": 1}),
            true if index % 3 == 0 => json!({"item": "tea"}),
            true if index % 3 == 1 => json!({"item": "tea", "count": 256}),
            true => json!({"item": "tea", "count": null}),
        });
        let content: Value = items.collect();
        let read = JsonReader::new().read_value::<Vec<Line>>(&content);
        let found: Vec<String> = match &read {
            Ok(_) => Vec::new(),
            Err(faults) => faults.all().iter().map(|fault| fault.pointer().to_owned()).collect(),
        };
        let expected: HashSet<String> = faulty.iter().map(|index| format!("/{index}/count")).collect();
        prop_assert_eq!(found.len(), expected.len());
        prop_assert_eq!(found.into_iter().collect::<HashSet<_>>(), expected);
    }

    /// H28: no text of the decoder and no value of the client is in the answer.
    #[test]
    fn answer_has_no_value_of_the_client(change in any_json(), at in any::<prop::sample::Index>()) {
        let mut content = order();
        let mut all = Vec::new();
        pointers(&content, "", &mut all);
        let pointer: &String = at.get(&all);
        *content.pointer_mut(pointer).unwrap() = json!({"s3cr3t-name": change, "item": "s3cr3t-text"});
        if let Err(faults) = JsonReader::new().read_value::<Order>(&content) {
            for fault in faults.all() {
                prop_assert!(!fault.detail().contains("s3cr3t"));
                prop_assert!(!fault.detail().contains("struct"));
            }
        }
    }
}
