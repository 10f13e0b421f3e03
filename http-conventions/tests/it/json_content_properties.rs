//! The reader of JSON content compared with serde_json.

use std::collections::HashSet;

use http_conventions::content::JsonReader;
use proptest::prelude::*;
use serde::{Deserialize, de::DeserializeOwned};
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

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read only")]
struct Buffered {
    id: u8,
    #[serde(flatten)]
    payment: Tagged,
    #[serde(flatten)]
    more: More,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "read only")]
enum Tagged {
    Card { number: u8, item: String },
    Cash { count: bool },
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read only")]
struct More {
    note: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

type Changes = Vec<(String, Value)>;

fn is_within(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Changes at locations that do not contain each other.
fn changes_of(content: &Value, drawn: Vec<(Value, prop::sample::Index)>) -> Changes {
    let mut all = Vec::new();
    pointers(content, "", &mut all);
    let mut changes: Changes = Vec::new();
    for (value, at) in drawn {
        let pointer = at.get(&all);
        if !changes
            .iter()
            .any(|(other, _)| is_within(pointer, other) || is_within(other, pointer))
        {
            changes.push((pointer.clone(), value));
        }
    }
    changes
}

fn changed(content: &Value, changes: &[(String, Value)]) -> Value {
    let mut content = content.clone();
    for (pointer, value) in changes {
        *content.pointer_mut(pointer).unwrap() = value.clone();
    }
    content
}

/// Locations of the changes that are faulty alone.
fn faulty_alone<T: DeserializeOwned>(content: &Value, changes: &Changes) -> Vec<String> {
    let is_faulty = |change: &&(String, Value)| {
        let content = changed(content, std::slice::from_ref(change));
        JsonReader::new().read_value::<T>(&content).is_err()
    };
    changes
        .iter()
        .filter(is_faulty)
        .map(|(pointer, _)| pointer.clone())
        .collect()
}

fn pointers_of_faults<T: DeserializeOwned>(content: &Value) -> Vec<String> {
    let read = JsonReader::new().read_value::<T>(content);
    let faults = read.err().map(|faults| faults.all().to_vec()).unwrap_or_default();
    faults.iter().map(|fault| fault.pointer().to_owned()).collect()
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

    /// H28: each change that is faulty alone has a fault, and no fault lies outside of the changes.
    #[test]
    fn faults_are_those_of_the_changes(
        changes in proptest::collection::vec((any_json(), any::<prop::sample::Index>()), 1..5),
    ) {
        let content = order();
        let changes = changes_of(&content, changes);
        let faulty = faulty_alone::<Order>(&content, &changes);
        let found = pointers_of_faults::<Order>(&changed(&content, &changes));
        for pointer in &found {
            prop_assert!(faulty.iter().any(|change| is_within(pointer, change)), "{pointer} {changes:?}");
        }
        for change in &faulty {
            prop_assert!(found.iter().any(|pointer| is_within(pointer, change)), "{change} {changes:?}");
        }
    }

    /// H28: also where serde buffers members, each fault leads to a faulty change, or to a value
    /// around it.
    #[test]
    fn faults_of_buffered_types_are_real(
        changes in proptest::collection::vec((any_json(), any::<prop::sample::Index>()), 1..5),
    ) {
        let content = json!([
            {"id": 1, "kind": "card", "number": 2, "item": "a"},
            {"id": 2, "kind": "cash", "count": true, "note": null},
            {"id": 3, "kind": "card", "number": 7, "item": "b", "tags": ["x"]},
        ]);
        let mut changes = changes_of(&content, changes);
        // another tag, which may be an index, asks for other members
        changes.retain(|(_, value)| value != "cash" && value != "card" && *value != 0 && *value != 1);
        let faulty = faulty_alone::<Vec<Buffered>>(&content, &changes);
        let found = pointers_of_faults::<Vec<Buffered>>(&changed(&content, &changes));
        prop_assert_eq!(found.is_empty(), faulty.is_empty());
        for pointer in &found {
            let is_real = |change: &String| is_within(pointer, change) || is_within(change, pointer);
            prop_assert!(faulty.iter().any(is_real), "{pointer} {changes:?}");
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

    /// H28: the faults contain no text of the decoder, and no value of the client.
    #[test]
    fn faults_quote_no_value_of_the_client(change in any_json(), at in any::<prop::sample::Index>()) {
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
