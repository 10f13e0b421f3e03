//! A live server that breaks one rule is detected, and one that keeps all has no finding.

use std::collections::BTreeSet;

use bytes::Bytes;
use conventions_audit::{client::Client, plan::Plan, report::Report, site};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_conventions::audit::{Finding, Rule};

use crate::desk::{Break, TOKEN, serve};

/// Each rule that an audit can check, and a server that breaks it.
const FAULTS: [(Rule, Break); 20] = [
    (Rule::NoRequestId, |_, answer| {
        drop(answer.headers_mut().remove("x-request-id"));
    }),
    (Rule::HarmfulRequestId, |request, answer| {
        if let Some(sent) = request.headers().get("x-request-id") {
            answer.headers_mut().insert("x-request-id", sent.clone());
        }
    }),
    (Rule::NoContentType, |_, answer| {
        drop(answer.headers_mut().remove(header::CONTENT_TYPE));
    }),
    (Rule::NoChallenge, |_, answer| {
        drop(answer.headers_mut().remove(header::WWW_AUTHENTICATE));
    }),
    (Rule::NoAllow, |_, answer| {
        drop(answer.headers_mut().remove(header::ALLOW));
    }),
    (Rule::NoLocation, |_, answer| {
        drop(answer.headers_mut().remove(header::LOCATION));
    }),
    (Rule::NoProblem, |_, answer| {
        if answer.status().is_client_error() {
            put(answer, "content-type", "text/plain");
        }
    }),
    (Rule::InvalidProblem, |_, answer| {
        if answer.status().is_client_error() {
            *answer.body_mut() = Bytes::from_static(b"{\"status\":200}");
        }
    }),
    (Rule::InvalidRateLimit, |_, answer| {
        put(answer, "ratelimit", "limit=100");
    }),
    (Rule::NoVaryOrigin, |_, answer| {
        put(answer, "access-control-allow-origin", "https://app.example.com");
    }),
    (Rule::ReflectedOrigin, |request, answer| {
        if let Some(origin) = request.headers().get(header::ORIGIN).cloned() {
            answer
                .headers_mut()
                .insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            put(answer, "access-control-allow-credentials", "true");
            put(answer, "vary", "origin");
        }
    }),
    (Rule::InvalidPage, |_, answer| {
        if answer.body().starts_with(b"{\"data\"") {
            *answer.body_mut() = Bytes::from_static(b"{\"data\":[],\"has_more\":true,\"next_cursor\":null}");
        }
    }),
    (Rule::HeadDiffers, |request, answer| {
        if *request.method() == Method::HEAD {
            put(answer, "content-type", "text/html");
        }
    }),
    (Rule::NotRevalidated, |_, answer| {
        instead(answer, StatusCode::NOT_MODIFIED, StatusCode::OK);
    }),
    (Rule::LostUpdate, |_, answer| {
        instead(answer, StatusCode::PRECONDITION_FAILED, StatusCode::OK);
    }),
    (Rule::NotReplayed, |_, answer| {
        if answer.headers().contains_key("idempotency-replayed") {
            *answer.body_mut() = Bytes::from_static(b"{}");
        }
    }),
    (Rule::RanTwice, |_, answer| {
        drop(answer.headers_mut().remove("idempotency-replayed"));
    }),
    (Rule::KeyReused, |_, answer| {
        instead(answer, StatusCode::CONFLICT, StatusCode::OK);
    }),
    (Rule::TamperedCursor, |request, answer| {
        broken_query(request, answer, "after=");
    }),
    (Rule::LimitOutOfRange, |request, answer| {
        broken_query(request, answer, "limit=");
    }),
];

fn put(answer: &mut Response<Bytes>, name: &'static str, value: &'static str) {
    let name = HeaderName::from_static(name);
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
}

fn instead(answer: &mut Response<Bytes>, status: StatusCode, other: StatusCode) {
    if answer.status() == status {
        *answer.status_mut() = other;
        put(answer, "content-type", "application/json");
    }
}

fn broken_query(request: &Request<Bytes>, answer: &mut Response<Bytes>, parameter: &str) {
    if request
        .uri()
        .query()
        .is_some_and(|query| query.contains(parameter))
    {
        instead(answer, StatusCode::BAD_REQUEST, StatusCode::OK);
    }
}

async fn report(broken: Break) -> Report {
    let (base, _stop) = serve(broken);
    let mut headers = HeaderMap::new();
    headers.insert(TOKEN.0, HeaderValue::from_static(TOKEN.1));
    let client = Client::new(&base, headers).unwrap();
    let document = client.get("/openapi.json").await.unwrap();
    let plan = Plan::from_openapi(document.body()).unwrap();
    assert_eq!((plan.reads().len(), plan.writes().len()), (1, 1));
    site::audit(&client, &plan, |_| {}).await.unwrap()
}

/// H22: a server that keeps the rules has no finding.
#[tokio::test]
async fn a_server_that_keeps_the_rules_has_no_finding() {
    let report = report(|_, _| {}).await;
    assert!(report.is_clean(), "{}", report.text());
    assert!(report.text().starts_with("0 findings in "), "{}", report.text());
}

/// H22: each fault of a live server is reported with its rule.
#[tokio::test]
async fn each_fault_of_a_live_server_is_found() {
    for (rule, broken) in FAULTS {
        let report = report(broken).await;
        let found: BTreeSet<Rule> = report.findings().map(Finding::rule).collect();
        assert!(found.contains(&rule), "{rule} not in {found:?}");
        let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        let rules = json["findings"].as_array().unwrap().iter();
        assert!(
            rules
                .map(|finding| &finding["rule"])
                .any(|name| name == rule.name())
        );
    }
}

/// H22: a server that answers an unknown method like a GET is reported.
#[tokio::test]
async fn a_method_that_passes_is_found() {
    let report = report(|request, answer| {
        if request.method().as_str() == "AUDIT" {
            instead(answer, StatusCode::METHOD_NOT_ALLOWED, StatusCode::OK);
        }
    })
    .await;
    assert!(
        report
            .findings()
            .any(|finding| finding.rule() == Rule::UnknownMethod)
    );
}
