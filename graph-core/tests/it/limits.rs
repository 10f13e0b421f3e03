//! Limits of depth, aliases and root fields.

use graph_core::http::GraphRequest;
use graph_core::limits::Limits;
use serde_json::Value;

use crate::fixture::{Fixture, builder, codes, fixture};

/// `levels` of selection below a counting resolver.
fn nested(levels: usize) -> String {
    let inner = (0..levels - 2).fold("id".to_owned(), |inner, _| format!("parent {{ {inner} }}"));
    format!("{{ ping item(id: 1) {{ {inner} }} }}")
}

/// G17, G3: fifteen levels pass, sixteen are refused before anything runs.
#[tokio::test]
async fn an_operation_has_fifteen_levels_at_most() {
    let shop = fixture();
    assert!(shop.ask(&nested(15)).await.get("errors").is_none());
    let calls = shop.shop.calls();
    assert!(calls > 0);
    let answer = shop.ask(&nested(16)).await;
    assert_eq!(codes(&answer), ["MAX_DEPTH_EXCEEDED"]);
    assert!(answer.get("data").is_none());
    assert_eq!(shop.shop.calls(), calls);
}

/// G17: levels inside fragments count, fragments themselves do not.
#[tokio::test]
async fn depth_is_counted_through_fragments() {
    let shop = Fixture::new(builder().with_limits(Limits::default().with_depth(4)));
    let fragments =
        "fragment A on Item { ... on Item { parent { ...B } } } fragment B on Item { ... { parent { id } } }";
    for (item, refused) in [("id", false), ("...A", false), ("parent { ...A }", true)] {
        let query = match item {
            "id" => "{ item(id: 1) { id } }".to_owned(),
            item => format!("{{ item(id: 1) {{ {item} }} }} {fragments}"),
        };
        let answer = shop.ask(&query).await;
        assert_eq!(codes(&answer) == ["MAX_DEPTH_EXCEEDED"], refused, "{query}");
    }
}

/// G17, G19: nesting that would exhaust the stack is refused by the parser, in selections, values
/// and list types.
#[tokio::test]
async fn deep_nesting_is_refused_by_the_parser() {
    let shop = fixture();
    let deep = 5_000;
    for query in [
        "{ a ".repeat(deep),
        format!("{{ item(id: {}1) {{ id }} }}", "[".repeat(deep)),
        format!("query ($x: {}Int) {{ ping }}", "[".repeat(deep)),
        nested(70),
    ] {
        let answer = shop.ask(&query).await;
        assert_eq!(codes(&answer), ["MAX_DEPTH_EXCEEDED"], "{answer}");
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G18, G3: thirty aliases pass, thirty-one are refused before anything runs, also through
/// fragments.
#[tokio::test]
async fn an_operation_has_thirty_aliases_at_most() {
    let shop = fixture();
    let aliased = |count: usize| (0..count).map(|at| format!("a{at}: id ")).collect::<String>();
    let plain = |count| format!("{{ item(id: 1) {{ {} }} }}", aliased(count));
    assert!(shop.ask(&plain(30)).await.get("errors").is_none());
    let calls = shop.shop.calls();
    assert_eq!(codes(&shop.ask(&plain(31)).await), ["MAX_ALIASES_EXCEEDED"]);
    let spread = format!(
        "{{ item(id: 1) {{ ...F parent {{ ...F }} }} }} fragment F on Item {{ {} }}",
        aliased(16)
    );
    assert_eq!(codes(&shop.ask(&spread).await), ["MAX_ALIASES_EXCEEDED"]);
    assert_eq!(shop.shop.calls(), calls);
}

/// G18: twenty root fields pass, twenty-one are refused.
#[tokio::test]
async fn an_operation_has_twenty_root_fields_at_most() {
    let shop = fixture();
    let root = |count: usize| {
        format!(
            "{{ {} }}",
            (0..count).map(|at| format!("a{at}: ping ")).collect::<String>()
        )
    };
    assert!(shop.ask(&root(20)).await.get("errors").is_none());
    assert_eq!(codes(&shop.ask(&root(21)).await), ["MAX_COST_EXCEEDED"]);
}

/// G3: all exceeded limits are reported at once, in a request error without data.
#[tokio::test]
async fn every_exceeded_limit_is_named() {
    let limits = Limits::default()
        .with_depth(1)
        .with_aliases(0)
        .with_root_fields(1)
        .with_cost(0);
    let shop = Fixture::new(builder().with_limits(limits));
    let answer: Value = shop.ask("{ a: item(id: 1) { id } ping }").await;
    let expected = [
        "MAX_DEPTH_EXCEEDED",
        "MAX_ALIASES_EXCEEDED",
        "MAX_COST_EXCEEDED",
        "MAX_COST_EXCEEDED",
    ];
    assert_eq!(codes(&answer), expected);
    assert!(answer.get("data").is_none());
    assert_eq!(shop.shop.calls(), 0);
}

/// G17, G18: the size of an operation is known without running it, also above the limits.
#[test]
fn estimate_measures_without_running() {
    let shop = fixture();
    let limits = Limits::default();
    let estimated = |query: &str| {
        let request = GraphRequest::new(query);
        shop.engine.estimate(&request, &shop.anonymous()).unwrap()
    };
    let small = estimated("{ item(id: 1) { a: id b: id } }");
    assert_eq!(
        (small.depth(), small.aliases(), small.root_fields(), small.cost()),
        (2, 2, 1, 1)
    );
    assert!(limits.exceeded(&small).is_empty());
    let deep = estimated(&nested(18));
    assert_eq!(deep.depth(), 18);
    let exceeded = limits.exceeded(&deep);
    let codes: Vec<_> = exceeded.iter().map(|error| error.code().to_string()).collect();
    assert_eq!(codes, ["MAX_DEPTH_EXCEEDED"]);
    assert_eq!(shop.shop.calls(), 0);
}

/// G19: the size of a page is that in the variables; other documents get their errors.
#[test]
fn estimate_counts_variables_and_refuses_mistakes() {
    let shop = fixture();
    let estimate = |request| shop.engine.estimate(&request, &shop.anonymous());
    let skipped = "query A($no: Boolean!) { item(id: 1) @include(if: $no) { id } ping } query B { ping }";
    let of = |variables: &str| {
        GraphRequest::new(skipped)
            .with_operation_name("A")
            .with_variables(serde_json::from_str(variables).unwrap())
    };
    assert_eq!(estimate(of(r#"{"no":false}"#)).unwrap().depth(), 1);
    assert_eq!(estimate(of(r#"{"no":true}"#)).unwrap().depth(), 2);
    for (request, code) in [
        (GraphRequest::new(skipped), "OPERATION_RESOLUTION_FAILURE"),
        (GraphRequest::new("{ ping"), "GRAPHQL_PARSE_FAILED"),
        (GraphRequest::new("{ pong }"), "GRAPHQL_VALIDATION_FAILED"),
        (GraphRequest::new("{ a ".repeat(5_000)), "MAX_DEPTH_EXCEEDED"),
    ] {
        let refused = estimate(request).unwrap_err();
        assert_eq!(refused.errors()[0].code().to_string(), code);
    }
}
