//! Compatible and incompatible changes of operations.

use http_conventions::versions::additive::Role;

use crate::additive::shown;

/// A document with one operation, given as JSON members, and the schemas that it may name.
fn operation(members: &str) -> String {
    format!(
        r##"{{"openapi":"3.1.0","paths":{{"/v1/charges":{{"post":{{{members}}}}}}},"components":{{
            "parameters":{{"Limit":{{"in":"query","name":"limit","schema":{{"type":"integer","maximum":100}}}}}},
            "schemas":{{"New":{{"required":["amount"]}},"Newer":{{"required":["amount","currency"]}}}}}}}}"##
    )
}

/// Old operation, new operation, and the changes under `/paths/~1v1~1charges/post`.
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
    // the same name at another location is another parameter
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
    // a response of another status or media type does not replace the removed one
    (
        r##""responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/New"}}}},"201":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Newer"}}}}}"##,
        r##""responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Newer"}}}},"201":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/New"}}}}}"##,
        &[
            "breaking: /responses/200/content/application~1json/schema was replaced",
            "breaking: /responses/201/content/application~1json/schema was replaced",
        ],
    ),
    (
        r##""responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/New"}},"text/csv":{"schema":{"$ref":"#/components/schemas/New"}}}}}"##,
        r##""responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/New"}},"text/csv":{"schema":{"$ref":"#/components/schemas/Newer"}}}}}"##,
        &["breaking: /responses/200/content/text~1csv/schema was replaced"],
    ),
];

/// H21: an operation may not require more in parameters and bodies, nor respond with less, in every
/// role of the schemas.
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

/// H21: a parameter of a path applies to all its operations, and an operation can override it.
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

/// H21: a named schema is compared once, as strictly as its uses require.
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
