//! Guards by scope and role.

use graph_core::Principal;
use serde_json::json;

use crate::fixture::{codes, fixture};

/// G15: a guarded field is null with UNAUTHENTICATED or FORBIDDEN; its siblings have data.
#[tokio::test]
async fn a_refused_field_is_null_with_its_code_and_its_siblings_live() {
    let shop = fixture();
    let query = "mutation { add(id: 1) { id } refund(id: 2) { id } }";
    for (context, code) in [(shop.anonymous(), "UNAUTHENTICATED"), (shop.ada(), "FORBIDDEN")] {
        let answer = shop.ask_in(query, context).await;
        assert_eq!(answer["data"], json!({ "add": { "id": 1 }, "refund": null }));
        assert_eq!(codes(&answer), [code]);
        assert_eq!(answer["errors"][0]["path"], json!(["refund"]));
    }
    // `add` ran twice, `refund` never
    assert_eq!(shop.shop.calls(), 2);
}

/// G15: a principal with the scope gets the field.
#[tokio::test]
async fn the_scope_opens_the_field() {
    let shop = fixture();
    let context = shop
        .anonymous()
        .with_principal(Principal::new("bob").with_scopes("write:refunds".parse().unwrap()));
    let answer = shop.ask_in("mutation { refund(id: 2) { id } }", context).await;
    assert_eq!(answer, json!({ "data": { "refund": { "id": 2 } } }));
}

/// G15: a role guard works on a nested field.
#[tokio::test]
async fn a_role_opens_a_nested_field() {
    let shop = fixture();
    let query = "{ item(id: 3) { id margin } }";
    let answer = shop.ask_in(query, shop.ada()).await;
    assert_eq!(answer["data"], json!({ "item": { "id": 3, "margin": null } }));
    assert_eq!(answer["errors"][0]["path"], json!(["item", "margin"]));
    assert_eq!(codes(&answer), ["FORBIDDEN"]);
    let owner = shop
        .anonymous()
        .with_principal(Principal::new("eve").with_roles(["owner"]));
    let answer = shop.ask_in(query, owner).await;
    assert_eq!(answer, json!({ "data": { "item": { "id": 3, "margin": 3 } } }));
}

/// G16: the host's principal reaches the resolvers; without it the request is anonymous.
#[tokio::test]
async fn the_principal_of_the_host_reaches_the_resolvers() {
    let shop = fixture();
    assert_eq!(
        shop.ask_in("{ viewer }", shop.ada()).await,
        json!({ "data": { "viewer": "ada" } })
    );
    assert_eq!(
        shop.ask("{ viewer }").await,
        json!({ "data": { "viewer": null } })
    );
}
