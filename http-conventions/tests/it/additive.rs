//! Compatible and incompatible changes of schemas.

use http_conventions::versions::additive::{InvalidSchema, Role, changes};
use proptest::prelude::*;

pub(crate) fn shown(old: &str, new: &str, role: Role) -> Vec<String> {
    let changes = changes(old.as_bytes(), new.as_bytes(), role).unwrap();
    changes.iter().map(ToString::to_string).collect()
}

/// Checks the change, and whether it breaks as input and as output.
fn check(old: &str, new: &str, change: &str, (input, output): (bool, bool)) {
    let expected = |breaks| vec![format!("{}{change}", if breaks { "breaking: " } else { "" })];
    assert_eq!(shown(old, new, Role::Input), expected(input), "{old} {new}");
    assert_eq!(shown(old, new, Role::Output), expected(output), "{old} {new}");
    assert_eq!(
        shown(old, new, Role::Both),
        expected(input || output),
        "{old} {new}"
    );
}

const NEITHER: (bool, bool) = (false, false);
const INPUT: (bool, bool) = (true, false);
const OUTPUT: (bool, bool) = (false, true);
const EITHER: (bool, bool) = (true, true);

/// H21: adding a field breaks nothing; removing, renaming or retyping one does, in resources and
/// events alike.
#[test]
fn fields_are_added_and_never_removed_or_retyped() {
    let id = r#"{"properties":{"id":{"type":"string"}}}"#;
    let both = r#"{"properties":{"id":{"type":"string"},"a/b~":{"type":"object"}}}"#;
    check(id, both, "/properties/a~1b~0 was added", NEITHER);
    check(both, id, "/properties/a~1b~0 was removed", EITHER);
    let number = r#"{"properties":{"id":{"type":"integer"}}}"#;
    check(id, number, "/properties/id/type was replaced", EITHER);
    for (old, new, change, breaks) in [
        (
            r#"{"type":"integer"}"#,
            r#"{"type":"number"}"#,
            "/type was loosened",
            OUTPUT,
        ),
        (
            r#"{"type":"number"}"#,
            r#"{"type":"integer"}"#,
            "/type was tightened",
            INPUT,
        ),
        (
            r#"{"type":"string"}"#,
            r#"{"type":["string","null"]}"#,
            "/type was loosened",
            OUTPUT,
        ),
        (
            r#"{"type":"string","nullable":true}"#,
            r#"{"type":"string"}"#,
            "/type was tightened",
            INPUT,
        ),
        ("{}", r#"{"type":"string"}"#, "/type was tightened", INPUT),
        (r#"{"type":"string"}"#, "{}", "/type was loosened", OUTPUT),
        (
            r#"{"format":"date"}"#,
            r#"{"format":"date-time"}"#,
            "/format was replaced",
            EITHER,
        ),
        (
            r#"{"const":"charge.created"}"#,
            r#"{"const":"charge.made"}"#,
            "/const was replaced",
            EITHER,
        ),
    ] {
        check(old, new, change, breaks);
    }
    assert!(
        shown(
            r#"{"type":["null","string"]}"#,
            r#"{"type":"string","nullable":true}"#,
            Role::Both
        )
        .is_empty()
    );
}

/// One case per keyword: old schema, new schema, change, and whether it breaks input and output.
const KEYWORDS: &[(&str, &str, &str, (bool, bool))] = &[
    ("{}", r#"{"required":["a"]}"#, "/required was tightened", INPUT),
    (
        r#"{"required":["a","b"]}"#,
        r#"{"required":["b"]}"#,
        "/required was loosened",
        OUTPUT,
    ),
    (
        r#"{"enum":["a"]}"#,
        r#"{"enum":["b","a"]}"#,
        "/enum was loosened",
        OUTPUT,
    ),
    (
        r#"{"enum":["a","b"]}"#,
        r#"{"enum":["a"]}"#,
        "/enum was tightened",
        INPUT,
    ),
    ("{}", r#"{"enum":["a"]}"#, "/enum was tightened", INPUT),
    (r#"{"enum":["a"]}"#, "{}", "/enum was loosened", OUTPUT),
    (
        r#"{"maxLength":9}"#,
        r#"{"maxLength":8}"#,
        "/maxLength was tightened",
        INPUT,
    ),
    (
        r#"{"maxLength":8}"#,
        r#"{"maxLength":9}"#,
        "/maxLength was loosened",
        OUTPUT,
    ),
    (
        r#"{"minimum":1}"#,
        r#"{"minimum":1.5}"#,
        "/minimum was tightened",
        INPUT,
    ),
    (r#"{"minimum":1}"#, "{}", "/minimum was loosened", OUTPUT),
    ("{}", r#"{"pattern":"a"}"#, "/pattern was tightened", INPUT),
    (
        r#"{"pattern":"a"}"#,
        r#"{"pattern":"b"}"#,
        "/pattern was replaced",
        EITHER,
    ),
    (
        "{}",
        r#"{"additionalProperties":false}"#,
        "/additionalProperties was tightened",
        INPUT,
    ),
    (
        r#"{"additionalProperties":false}"#,
        r#"{"additionalProperties":true}"#,
        "/additionalProperties was loosened",
        OUTPUT,
    ),
    (
        r#"{"additionalProperties":false}"#,
        r#"{"additionalProperties":{}}"#,
        "/additionalProperties was loosened",
        OUTPUT,
    ),
    (
        r#"{"items":{"type":"string"}}"#,
        r#"{"items":{"type":"null"}}"#,
        "/items/type was replaced",
        EITHER,
    ),
    (
        r#"{"oneOf":[{}]}"#,
        r#"{"oneOf":[{},{}]}"#,
        "/oneOf was loosened",
        OUTPUT,
    ),
    (
        r#"{"anyOf":[{},{}]}"#,
        r#"{"anyOf":[{}]}"#,
        "/anyOf was tightened",
        INPUT,
    ),
    ("{}", r#"{"anyOf":[{}]}"#, "/anyOf was tightened", INPUT),
    (r#"{"anyOf":[{}]}"#, "{}", "/anyOf was loosened", OUTPUT),
    (
        r#"{"allOf":[{}]}"#,
        r#"{"allOf":[{},{}]}"#,
        "/allOf was tightened",
        INPUT,
    ),
    (r#"{"allOf":[{}]}"#, "{}", "/allOf was loosened", OUTPUT),
    (
        r#"{"allOf":[{"type":"string"}]}"#,
        r#"{"allOf":[{"type":"null"}]}"#,
        "/allOf/0/type was replaced",
        EITHER,
    ),
    ("true", "false", " was replaced", EITHER),
];

/// H21: stricter input breaks clients, and looser output breaks clients.
#[test]
fn validation_is_not_tightened_nor_a_promise_withdrawn() {
    for (old, new, change, breaks) in KEYWORDS {
        check(old, new, change, *breaks);
    }
}

/// H21: documents are compared by schema and by path, through references; a path keeps its
/// resource.
#[test]
fn documents_are_compared_through_their_references() {
    let document = |paths: &str, schemas: &str| {
        format!(r#"{{"openapi":"3.1.0","paths":{{{paths}}},"components":{{"schemas":{{{schemas}}}}}}}"#)
    };
    let get = |path: &str, name: &str| {
        format!(
            r##""{path}":{{"get":{{"responses":{{"200":{{"content":{{"application/json":{{"schema":{{"$ref":"#/components/schemas/{name}"}}}}}}}}}}}}}}"##
        )
    };
    let charge = |amount: &str| {
        format!(
            r##""Charge":{{"properties":{{"next":{{"$ref":"#/components/schemas/Charge"}},"amount":{{"$ref":"#/components/schemas/{amount}"}}}}}},"Cents":{{"type":"integer"}},"Text":{{"type":"string"}}"##
        )
    };
    let old = document(
        &format!(
            "{},{}",
            get("/v1/charges/{id}", "Charge"),
            get("/v1/refunds/{id}", "Text")
        ),
        &charge("Cents"),
    );
    assert!(shown(&old, &old, Role::Both).is_empty());
    let new = document(&get("/v1/charges/{id}", "Text"), &charge("Text"));
    assert_eq!(
        shown(&old, &new, Role::Both),
        [
            "breaking: /paths/~1v1~1charges~1{id}/get/responses/200/content/application~1json/schema was replaced",
            "breaking: /paths/~1v1~1refunds~1{id} was removed",
            "breaking: /components/schemas/Charge/properties/amount/type was replaced",
        ]
    );
    let without = document("", r#""Cents":{"type":"integer"}"#);
    let more = document(
        &get("/v2/charges/{id}", "Cents"),
        r#""Cents":{"type":"integer"},"Euros":{}"#,
    );
    assert_eq!(
        shown(&without, &more, Role::Both),
        [
            "/components/schemas/Euros was added",
            "/paths/~1v2~1charges~1{id} was added"
        ]
    );
    assert_eq!(changes(b"{", b"{}", Role::Both), Err(InvalidSchema));
    assert_eq!(changes(b"{}", b"", Role::Both), Err(InvalidSchema));
}

/// H21: circular and deep references terminate.
#[test]
fn circles_and_depths_come_to_an_end() {
    let circle = r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"},"y":{"$ref":"#"}}}"##;
    assert!(shown(circle, circle, Role::Both).is_empty());
    let chain = |last: &str| {
        let links: Vec<String> = (0..2_000)
            .map(|at| {
                format!(
                    r##""s{at}":{{"properties":{{"n":{{"$ref":"#/$defs/s{}"}}}}}}"##,
                    at + 1
                )
            })
            .collect();
        format!(
            r##"{{"$ref":"#/$defs/s0","$defs":{{{},"s2000":{{"type":"{last}"}}}}}}"##,
            links.join(",")
        )
    };
    let found = shown(&chain("string"), &chain("null"), Role::Both);
    assert!(
        found.len() == 1
            && found
                .iter()
                .all(|change| change.ends_with("/n/type was replaced"))
    );
}

proptest! {
    #[test]
    fn comparing_never_panics(old in "[{}\\[\\]:,\"a-z$]{0,30}", new in "[{}\\[\\]:,\"a-z$]{0,30}") {
        drop(changes(old.as_bytes(), new.as_bytes(), Role::Both));
    }
}
