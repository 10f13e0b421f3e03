//! Deprecation reasons, in every form of Rust's `#[deprecated]`.

use graph_core::http::GraphRequest;
use serde_json::{Value, json};

use super::{callers, engine};

/// G11: every form of `#[deprecated]` reaches introspection with its reason, on objects and
/// interfaces, with and without a guard.
#[tokio::test]
async fn every_form_of_a_deprecation_has_its_reason() {
    const QUERY: &str = "{ __schema { types { name fields(includeDeprecated: true) { name isDeprecated deprecationReason } } } }";
    // guarded fields are visible to the owner only
    let [_, _, owner] = callers();
    let answer = json!(engine().execute(&GraphRequest::new(QUERY), &owner).await);
    let types = answer["data"]["__schema"]["types"].as_array().unwrap();
    let deprecated = |name: &str| -> Vec<Value> {
        let of = types.iter().find(|ty| ty["name"] == name).unwrap();
        let fields = of["fields"].as_array().unwrap().iter();
        let deprecated = fields.filter(|field| field["isDeprecated"] == true);
        deprecated
            .map(|field| json!([field["name"], field["deprecationReason"]]))
            .collect()
    };
    let expected = [
        json!(["old", "old"]),
        json!(["older", "in one word"]),
        json!(["oldest", "with a version"]),
        json!(["kind", "older"]),
        json!(["olderEmail", "guarded"]),
        json!(["oldEmail", null]),
    ];
    assert_eq!(deprecated("User"), expected);
    assert_eq!(deprecated("Node"), [json!(["code", "ask support"])]);
    assert_eq!(deprecated("Titled"), [json!(["teamName", "teams have titles"])]);
}
