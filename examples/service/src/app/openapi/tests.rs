use std::collections::BTreeSet;
use std::sync::Arc;

use http::Method;
use http_conventions::ports::OsEntropy;
use http_conventions::versions::ApiVersion;
use serde_json::Value;

use super::*;
use crate::app::route::Route;
use crate::clock::DemoClock;

fn paths() -> Vec<(String, Value)> {
    let clock = Arc::new(DemoClock::new().clone());
    let conventions = Conventions::builder("http://127.0.0.1:8080/problems/", clock, Arc::new(OsEntropy));
    let document = document("http://127.0.0.1:8080", &conventions.build().unwrap());
    let paths = document["paths"].as_object().unwrap().clone();
    paths.into_iter().collect()
}

/// Path of this template with example identifiers.
fn example(template: &str) -> String {
    let of = |kind: &str| format!("{kind}_{}", "0".repeat(32));
    let id = match template.split('/').nth(2) {
        Some("charges") => of("ch"),
        Some("customers") => of("cus"),
        _ => of("ep"),
    };
    template.replace("{id}", &id).replace("{refund}", &of("re"))
}

/// H22: every operation of the document exists, with the methods of its route.
#[test]
fn described_operations_are_routed() {
    let version: Option<ApiVersion> = "1".parse().ok();
    for (template, item) in paths() {
        let path = example(&template);
        let route = Route::of(path.strip_prefix("/v1").unwrap(), version).unwrap();
        assert_eq!(route.template(), template);
        let described: BTreeSet<String> = item.as_object().unwrap().keys().cloned().collect();
        let taken = route
            .methods()
            .iter()
            .filter(|method| !matches!(**method, Method::HEAD | Method::OPTIONS));
        let taken: BTreeSet<String> = taken.map(|method| method.as_str().to_lowercase()).collect();
        let described: BTreeSet<String> = described
            .into_iter()
            .filter(|name| name != "parameters")
            .collect();
        assert_eq!(described, taken, "{template}");
    }
}

/// H22: the document describes every resource of the table of routes; each template belongs to one
/// resource.
#[test]
fn routed_resources_are_described() {
    let described: BTreeSet<String> = paths().into_iter().map(|(template, _)| template).collect();
    let source = include_str!("../route.rs");
    let (_, templates) = source.split_once("fn template(").unwrap();
    let (templates, _) = templates.split_once("\n    }").unwrap();
    let texts = templates
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|text| !text.is_empty());
    let routed: BTreeSet<String> = texts.map(str::to_owned).collect();
    assert_eq!(described, routed);
    assert!(templates.lines().filter(|line| line.contains("=>")).count() >= routed.len());
}
