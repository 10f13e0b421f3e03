//! Changes of schemas.

use http_conventions::additive::{InvalidSchema, Role, changes};
use proptest::prelude::*;

fn shown(old: &str, new: &str, role: Role) -> Vec<String> {
    let changes = changes(old.as_bytes(), new.as_bytes(), role).unwrap();
    changes.iter().map(ToString::to_string).collect()
}

/// The change, and whether it breaks as input and as output.
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

/// H21: adding a field breaks nothing; removing, renaming or retyping one does, in resources and events alike.
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

/// One keyword each: the old schema, the new one, the change, and whom it breaks.
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

/// H21: to demand more breaks who sends, to promise less breaks who receives.
#[test]
fn validation_is_not_tightened_nor_a_promise_withdrawn() {
    for (old, new, change, breaks) in KEYWORDS {
        check(old, new, change, *breaks);
    }
}

/// H21: documents are compared by schema and by path, through references; a path keeps its resource.
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
            "breaking: /paths/~1v1~1charges~1{id}/get/responses was replaced",
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

/// One operation, of which this is the JSON between its braces, with the schemas that it may name.
fn operation(members: &str) -> String {
    format!(
        r##"{{"openapi":"3.1.0","paths":{{"/v1/charges":{{"post":{{{members}}}}}}},"components":{{
            "parameters":{{"Limit":{{"in":"query","name":"limit","schema":{{"type":"integer","maximum":100}}}}}},
            "schemas":{{"New":{{"required":["amount"]}},"Newer":{{"required":["amount","currency"]}}}}}}}}"##
    )
}

/// The old operation, the new one, and what changed behind `/paths/~1v1~1charges/post`.
const OPERATIONS: &[(&str, &str, &[&str])] = &[
    (
        r#""parameters":[{"in":"query","name":"limit"}]"#,
        "",
        &["breaking: /parameters/limit was removed"],
    ),
    (
        "",
        r#""parameters":[{"in":"query","name":"limit"}]"#,
        &["/parameters/limit was added"],
    ),
    (
        "",
        r#""parameters":[{"in":"header","name":"Idempotency-Key","required":true}]"#,
        &["breaking: /parameters/idempotency-key was tightened"],
    ),
    (
        r#""parameters":[{"in":"header","name":"If-Match"}]"#,
        r#""parameters":[{"in":"header","name":"if-match","required":true}]"#,
        &["breaking: /parameters/if-match/required was tightened"],
    ),
    (
        r#""parameters":[{"in":"query","name":"a","required":true}]"#,
        r#""parameters":[{"in":"query","name":"a"}]"#,
        &["/parameters/a/required was loosened"],
    ),
    // the same name elsewhere is another parameter
    (
        r#""parameters":[{"in":"query","name":"a"}]"#,
        r#""parameters":[{"in":"cookie","name":"a"}]"#,
        &["breaking: /parameters/a was removed", "/parameters/a was added"],
    ),
    (
        r##""parameters":[{"$ref":"#/components/parameters/Limit"}]"##,
        r#""parameters":[{"in":"query","name":"limit","schema":{"type":"integer","maximum":50}}]"#,
        &["breaking: /parameters/limit/schema/maximum was tightened"],
    ),
    (
        r#""parameters":[{"in":"query","name":"a","schema":{"enum":["x"]}}]"#,
        r#""parameters":[{"in":"query","name":"a","schema":{"enum":["x","y"]}}]"#,
        &["/parameters/a/schema/enum was loosened"],
    ),
    (
        r#""parameters":[{"in":"query","name":"a"}]"#,
        r#""parameters":[{"in":"query","name":"a","style":"deepObject","schema":{"type":"string"}}]"#,
        &[
            "breaking: /parameters/a/style was replaced",
            "breaking: /parameters/a/schema was tightened",
        ],
    ),
    (
        "",
        r#""requestBody":{"content":{"application/json":{}}}"#,
        &["/requestBody was added"],
    ),
    (
        "",
        r#""requestBody":{"required":true,"content":{}}"#,
        &["breaking: /requestBody was tightened"],
    ),
    (
        r#""requestBody":{"content":{}}"#,
        "",
        &["breaking: /requestBody was removed"],
    ),
    (
        r#""requestBody":{"content":{"application/json":{}}}"#,
        r#""requestBody":{"required":true,"content":{"text/csv":{}}}"#,
        &[
            "breaking: /requestBody/required was tightened",
            "breaking: /requestBody/content/application~1json was removed",
            "/requestBody/content/text~1csv was added",
        ],
    ),
    (
        r##""requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/New"}}}}"##,
        r##""requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Newer"}}}}"##,
        &["breaking: /requestBody/content/application~1json/schema/required was tightened"],
    ),
    (
        r#""responses":{"200":{"content":{"application/json":{"schema":{"required":["id"]}}}},"404":{}}"#,
        r#""responses":{"200":{"content":{"application/json":{"schema":{}}}},"202":{}}"#,
        &[
            "/responses/202 was added",
            "breaking: /responses/200/content/application~1json/schema/required was loosened",
        ],
    ),
    (
        r#""responses":{"201":{"content":{"application/json":{}}}}"#,
        r#""responses":{"204":{}}"#,
        &["breaking: /responses/201 was removed", "/responses/204 was added"],
    ),
];

/// H21: an operation demands no more than before, in its parameters and its bodies, and answers with no less, whatever role the
/// schemas of the document are compared in.
#[test]
fn an_operation_demands_no_more_and_answers_with_no_less() {
    for role in [Role::Input, Role::Output, Role::Both] {
        for (old, new, expected) in OPERATIONS {
            let found = shown(&operation(old), &operation(new), role);
            let place = "/paths/~1v1~1charges/post";
            let found: Vec<String> = found.iter().map(|change| change.replacen(place, "", 1)).collect();
            assert_eq!(found, *expected, "{role:?}: {old} {new}");
            assert!(shown(&operation(new), &operation(new), role).is_empty());
        }
    }
}

/// H21: a parameter of a path is one of each of its operations, and one that an operation has itself takes its place.
#[test]
fn the_parameters_of_a_path_are_those_of_its_operations() {
    let path = |of_path: &str, of_get: &str| {
        format!(
            r#"{{"openapi":"3.1.0","paths":{{"/a":{{"summary":"a","parameters":[{of_path}],"get":{{"parameters":[{of_get}]}}}}}}}}"#
        )
    };
    let (page, required) = (
        r#"{"in":"query","name":"page"}"#,
        r#"{"in":"query","name":"page","required":true}"#,
    );
    assert!(shown(&path(page, ""), &path("", page), Role::Both).is_empty());
    assert_eq!(
        shown(&path(page, ""), &path(page, required), Role::Both),
        ["breaking: /paths/~1a/get/parameters/page/required was tightened"]
    );
}

/// H21: a schema by its name is compared once, as strictly as its uses are.
#[test]
fn a_named_schema_is_compared_as_strictly_as_its_uses_are() {
    let document = |required: &str| {
        format!(
            r##"{{"openapi":"3.1.0","paths":{{"/a":{{"post":{{"requestBody":{{"content":{{"application/json":{{"schema":{{"$ref":"#/components/schemas/New"}}}}}}}}}}}}}},"components":{{"schemas":{{"New":{{"required":[{required}]}}}}}}}}"##
        )
    };
    let (old, new) = (document(""), document(r#""a""#));
    let named = "/components/schemas/New/required was tightened";
    let used = "/paths/~1a/post/requestBody/content/application~1json/schema/required was tightened";
    for role in [Role::Input, Role::Both] {
        assert_eq!(shown(&old, &new, role), [format!("breaking: {named}")]);
    }
    assert_eq!(
        shown(&old, &new, Role::Output),
        [named.to_owned(), format!("breaking: {used}")]
    );
}

/// H21: references that lead in circles, or as deep as a document is long, come to an end.
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
