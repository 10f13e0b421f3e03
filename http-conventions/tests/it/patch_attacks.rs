//! Attacks on patches, and the comparison with the crate json-patch.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::patches::{JSON, MERGE, apply, parse, refused};

/// H27: copies that double the document end at about 1 MiB.
#[test]
fn doubling_copies_are_refused() {
    let doubling = (0..60).map(|_| json!({"op": "copy", "from": "", "path": "/a"}));
    let document = json!({"a": {}, "text": "x".repeat(1000)});
    assert_eq!(refused(apply(JSON, &document, &doubling.collect())).0, 422);

    let append = (0..1000).map(|_| json!({"op": "copy", "from": "/0", "path": "/-"}));
    let large = json!(["x".repeat(10_000)]);
    assert_eq!(refused(apply(JSON, &large, &append.clone().collect())).0, 422);
    let small = json!(["x".repeat(900)]);
    assert_eq!(
        apply(JSON, &small, &append.collect())
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        1001
    );
}

/// H27: no sequence of operations nests a document more than 64 levels deep.
#[test]
fn nesting_is_limited() {
    let copies = (1..=64).map(|depth| json!({"op": "copy", "from": "", "path": "/a".repeat(depth)}));
    assert_eq!(refused(apply(JSON, &json!({"a": 1}), &copies.collect())).0, 422);

    // each move puts the chain of all earlier members under a new one
    let moves = (1..1000).map(
        |index| json!({"op": "move", "from": format!("/m{}", index - 1), "path": format!("/m{index}/a")}),
    );
    let document: Value = (0..1000).map(|index| (format!("m{index}"), json!({}))).collect();
    assert_eq!(refused(apply(JSON, &document, &moves.collect())).0, 422);

    let deep = [r#"{"a":"#.repeat(65), "1".to_owned(), "}".repeat(65)].concat();
    assert_eq!(refused(parse(MERGE, deep.as_bytes())).0, 400);
}

/// H27: a patch has at most 1,000 operations.
#[test]
fn operations_are_limited() {
    let tests = |count: usize| {
        (0..count)
            .map(|_| json!({"op": "test", "path": "", "value": {}}))
            .collect()
    };
    assert!(apply(JSON, &json!({}), &tests(1000)).is_ok());
    let expected = (String::new(), "wrong-length".to_owned());
    assert_eq!(
        refused(apply(JSON, &json!({}), &tests(1001))),
        (400, vec![expected])
    );
    let faulty: Value = std::iter::repeat_n(json!(7), 1000).collect();
    assert_eq!(refused(apply(JSON, &json!({}), &faulty)).1.len(), 32);
}

/// H27: a merge patch has no `null` in its result, at any depth, unless the document had it.
#[test]
fn null_of_a_merge_patch_is_not_stored() {
    let patch = json!({"a": {"b": null, "c": {"d": null}}, "list": [null]});
    let changed = apply(MERGE, &json!({"a": 1, "kept": null}), &patch).unwrap();
    assert_eq!(changed, json!({"a": {"c": {}}, "list": [null], "kept": null}));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_u8).prop_map(Value::from),
        "[ab]{0,1}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[ab0/~]{0,2}", inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn any_pointer() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("-"),
        Just("0"),
        Just("1"),
        Just("2"),
        Just("a"),
        Just("b"),
        Just("01"),
        Just("~0"),
        Just("~1"),
        Just("")
    ];
    proptest::collection::vec(token, 0..4)
        .prop_map(|tokens| tokens.iter().map(|token| format!("/{token}")).collect())
}

fn any_operation() -> impl Strategy<Value = Value> {
    (0..6_u8, any_pointer(), any_pointer(), any_json()).prop_map(|(kind, path, from, value)| match kind {
        0 => json!({"op": "add", "path": path, "value": value}),
        1 => json!({"op": "remove", "path": path}),
        2 => json!({"op": "replace", "path": path, "value": value}),
        3 => json!({"op": "move", "path": path, "from": from}),
        4 => json!({"op": "copy", "path": path, "from": from}),
        _ => json!({"op": "test", "path": path, "value": value}),
    })
}

proptest! {
    /// H27: another implementation has the same result for each patch.
    #[test]
    fn json_patch_agrees_with_other_crate(
        document in any_json(),
        operations in proptest::collection::vec(any_operation(), 1..4),
    ) {
        // a move of the whole document to itself: the RFC forbids a move into a child only
        let is_noop = |operation: &Value| {
            operation["op"] == "move" && operation["from"] == "" && operation["path"] == ""
        };
        prop_assume!(!operations.iter().any(is_noop));
        let patch = Value::Array(operations);
        let ours = apply(JSON, &document, &patch);
        let mut theirs = document.clone();
        let parsed: json_patch::Patch = serde_json::from_value(patch).unwrap();
        // its `patch` panics while it undoes some failed patches
        let applied = json_patch::patch_unsafe(&mut theirs, &parsed);
        prop_assert_eq!(ours.ok(), applied.ok().map(|()| theirs));
    }

    /// H27: another implementation has the same result for each merge patch.
    #[test]
    fn merge_patch_agrees_with_other_crate(document in any_json(), patch in any_json()) {
        let mut theirs = document.clone();
        json_patch::merge(&mut theirs, &patch);
        prop_assert_eq!(apply(MERGE, &document, &patch), Ok(theirs));
    }

    /// H27: a merge patch applied twice has the effect of one.
    #[test]
    fn merge_patch_is_idempotent(document in any_json(), patch in any_json()) {
        let once = apply(MERGE, &document, &patch).unwrap();
        prop_assert_eq!(apply(MERGE, &once, &patch), Ok(once));
    }

    /// H27: no content panics.
    #[test]
    fn any_content_is_parsed(content in any::<Vec<u8>>(), document in any_json()) {
        for media_type in [MERGE, JSON] {
            if let Ok(patch) = parse(media_type, &content) {
                let _applied = patch.apply(&document);
            }
        }
    }
}
