//! Bad input gets the documented response: never a panic, never a 500.

use http::{HeaderName, HeaderValue, Method, Request};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_oneof, proptest};
use serde_json::Value;

use crate::desk::{FORM, ask, bearer, header, json, open, request};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Placeholder for the token of the run.
const SIGNED_IN: (&str, &str) = ("authorization", "TOKEN");
const AS_JSON: &[(&str, &str)] = &[SIGNED_IN, JSON];

type Case = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    u16,
);

#[rustfmt::skip]
const MISTAKES: &[Case] = &[
    ("GET", "/nowhere", &[], "", 404),
    ("GET", "/v1/charges/", &[SIGNED_IN], "", 404),
    ("DELETE", "/v1/charges", &[SIGNED_IN], "", 405),
    ("GET", "/v1/charges", &[], "", 401),
    ("GET", "/v1/charges", &[("authorization", "Bearer forged")], "", 401),
    ("GET", "/v1/charges", &[("authorization", "Bearer a b")], "", 400),
    ("POST", "/v1/charges/ch_00000000000000000000000000000000/refunds", AS_JSON, "{}", 403),
    ("GET", "/v1/charges/ch_00000000000000000000000000000000", &[SIGNED_IN], "", 404),
    ("GET", "/v1/charges/ch_1", &[SIGNED_IN], "", 404),
    ("GET", "/v1/charges?limit=0", &[SIGNED_IN], "", 400),
    ("GET", "/v1/charges?limit=101", &[SIGNED_IN], "", 400),
    ("GET", "/v1/charges?limit=x", &[SIGNED_IN], "", 400),
    ("GET", "/v1/charges?after=x", &[SIGNED_IN], "", 400),
    ("GET", "/v1/charges?status=gone", &[SIGNED_IN], "", 400),
    ("GET", "/v1/charges?customer=", &[SIGNED_IN], "", 400),
    ("GET", "/v1/charges?status=refunded&status=refunded", &[SIGNED_IN], "", 400),
    ("POST", "/v1/charges", AS_JSON, "", 400),
    ("POST", "/v1/charges", AS_JSON, "{", 400),
    ("POST", "/v1/charges", AS_JSON, "[]", 422),
    ("POST", "/v1/charges", AS_JSON, r#"[1,"eur",null,null]"#, 422),
    ("POST", "/v1/charges", AS_JSON, r#"{"amount":"1","currency":"eur"}"#, 422),
    ("POST", "/v1/charges", AS_JSON, r#"{"amount":1,"amount":1,"currency":"eur"}"#, 400),
    ("POST", "/v1/charges", AS_JSON, r#"{"amount":1e99,"currency":"eur"}"#, 422),
    ("POST", "/v1/charges", AS_JSON, r#"{"amount":-1,"currency":"eur"}"#, 422),
    ("POST", "/v1/charges", AS_JSON, r#"{"amount":1,"currency":"EUR"}"#, 422),
    ("POST", "/v1/charges", AS_JSON, r#"{"amount":1,"currency":"eur","customer":"cus_00000000000000000000000000000000"}"#, 422),
    ("POST", "/v1/charges", &[SIGNED_IN, ("content-type", "text/plain")], "{}", 415),
    ("POST", "/v1/charges", &[SIGNED_IN, JSON, ("content-encoding", "gzip")], r#"{"amount":1,"currency":"eur"}"#, 415),
    ("POST", "/v1/charges", &[SIGNED_IN, JSON, ("idempotency-key", "\"")], r#"{"amount":1,"currency":"eur"}"#, 400),
    ("PUT", "/v1/charges/ch_00000000000000000000000000000000", AS_JSON, r#"{"amount":1,"currency":"eur"}"#, 404),
    ("POST", "/v1/customers", AS_JSON, r#"{"name":" "}"#, 422),
    ("POST", "/v1/webhook-endpoints", AS_JSON, r#"{"url":"http://10.0.0.1/"}"#, 422),
    ("POST", "/v1/webhook-endpoints", AS_JSON, r#"{"url":"https://a.example/","events":["A"]}"#, 422),
    ("GET", "/v1/webhook-deliveries?state=x", &[SIGNED_IN], "", 400),
    ("GET", "/v1/webhook-deliveries?state=", &[SIGNED_IN], "", 400),
    ("GET", "/v1/webhook-deliveries/x", &[SIGNED_IN], "", 404),
    ("POST", "/v1/webhook-deliveries/evt_1.we_1/replays", AS_JSON, "{}", 404),
    ("GET", "/login?interaction=x", &[], "", 400),
    ("POST", "/login", &[JSON], "{}", 415),
    ("POST", "/consent", &[FORM], "decision=allow", 400),
    ("GET", "/problems/x", &[], "", 404),
];

/// H12, H13, X1: every error of a resource endpoint is a problem with the status of the response,
/// and H5: it has a request id.
#[tokio::test]
async fn each_mistake_has_its_status_and_a_problem_body() {
    let app = open().await;
    let token = bearer(&app, "read:charges write:charges").await;
    for (method, path, headers, body, status) in MISTAKES {
        let headers: Vec<_> = headers
            .iter()
            .map(|&header| {
                if header == SIGNED_IN {
                    (header.0, token.as_str())
                } else {
                    header
                }
            })
            .collect();
        let response = ask(&app, request(method, path, &headers, *body)).await;
        let told = json(&response);
        assert_eq!(response.status(), *status, "{method} {path} {body}: {told}");
        assert_eq!(
            header(response.headers(), "content-type"),
            "application/problem+json",
            "{method} {path}"
        );
        assert_eq!(told.get("status"), Some(&Value::from(*status)), "{method} {path}");
        assert!(
            header(response.headers(), "x-request-id").len() >= 8,
            "{method} {path}"
        );
    }
}

/// O26: the token endpoint responds to mistakes with the errors of RFC 6749.
#[tokio::test]
async fn the_authorization_server_speaks_its_own_errors() {
    let app = open().await;
    for (path, headers, body, status, error) in [
        ("/token", vec![FORM], "", 401, "invalid_client"),
        (
            "/token",
            vec![FORM],
            "client_id=demo-native",
            400,
            "invalid_request",
        ),
        (
            "/token",
            vec![FORM],
            "grant_type=password&client_id=demo-native",
            400,
            "unsupported_grant_type",
        ),
        (
            "/token",
            vec![FORM],
            "grant_type=client_credentials&client_id=unknown",
            401,
            "invalid_client",
        ),
        ("/oauth/introspect", vec![FORM], "token=x", 401, "invalid_client"),
        (
            "/oauth/revoke",
            vec![FORM, ("authorization", "Basic !!")],
            "token=x",
            401,
            "invalid_client",
        ),
    ] {
        let response = ask(&app, request("POST", path, &headers, body)).await;
        assert_eq!(response.status(), status, "{path} {body} {:?}", response.body());
        assert_eq!(
            json(&response).get("error"),
            Some(&Value::from(error)),
            "{path} {body}"
        );
    }
}

/// Paths made of route segments and arbitrary text.
fn path() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("v1".to_owned()),
        Just("charges".to_owned()),
        Just("refunds".to_owned()),
        Just("customers".to_owned()),
        Just("webhook-deliveries".to_owned()),
        Just("webhook-endpoints".to_owned()),
        Just("graphql".to_owned()),
        Just("token".to_owned()),
        Just("oauth".to_owned()),
        Just("introspect".to_owned()),
        Just("authorize".to_owned()),
        Just("login".to_owned()),
        Just("ch_00000000000000000000000000000000".to_owned()),
        "[!-~&&[^?#\"<>\\^`{}|%]]{0,8}",
    ];
    let query = prop_oneof![
        Just(String::new()),
        "\\?[a-z_=&%0-9+]{0,40}",
        "\\?(limit|after|client_id|response_type|redirect_uri|query|interaction)=[a-zA-Z0-9%]{0,20}"
    ];
    (prop::collection::vec(word, 0..5), query)
        .prop_map(|(words, query)| format!("/{}{query}", words.join("/")))
}

fn a_header() -> impl Strategy<Value = (HeaderName, HeaderValue)> {
    let name = prop::sample::select(vec![
        "accept",
        "authorization",
        "content-type",
        "cookie",
        "dpop",
        "idempotency-key",
        "if-match",
        "if-none-match",
        "if-modified-since",
        "x-request-id",
        "graphql-require-preflight",
    ]);
    let value = prop_oneof![
        prop::collection::vec(prop_oneof![Just(b'\t'), 0x20..0x7f_u8, 0x80..=0xff_u8], 0..40),
        prop::sample::select(vec![
            "application/json",
            "application/x-www-form-urlencoded",
            "text/event-stream",
            "text/html",
            "*",
            "\"x\"",
            "Bearer x",
            "Basic eDp5",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    (name, value).prop_map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_bytes(&value).unwrap(),
        )
    })
}

fn a_request() -> impl Strategy<Value = Request<Vec<u8>>> {
    let method = prop::sample::select(vec![
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::HEAD,
        Method::OPTIONS,
        Method::DELETE,
        Method::PATCH,
    ]);
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        "\\{\"(query|amount|url)\":[\"{}a-z0-9\\[\\]:,]{0,40}\\}".prop_map(String::into_bytes),
        "(grant_type|token|code|client_id)=[a-z_%0-9&=]{0,40}".prop_map(String::into_bytes),
    ];
    (
        method,
        path(),
        prop::collection::vec(a_header(), 0..5),
        body,
        any::<bool>(),
    )
        .prop_map(|(method, path, headers, body, signed_in)| {
            let mut request = Request::new(body);
            *request.method_mut() = method;
            *request.uri_mut() = path.parse().unwrap_or_else(|_| "/".parse().unwrap());
            for (name, value) in headers {
                request.headers_mut().append(name, value);
            }
            if signed_in {
                // placeholder for the token of the run
                request
                    .headers_mut()
                    .insert("authorization", HeaderValue::from_static("TOKEN"));
            }
            request
        })
}

/// H12, G19: no request by a client causes a 500.
#[test]
fn no_request_gets_500() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let app = runtime.block_on(open());
    let token = runtime.block_on(bearer(&app, "read:charges write:charges write:refunds"));
    proptest!(ProptestConfig::with_cases(600), |(sent in a_request())| {
        let mut sent = sent.map(bytes::Bytes::from);
        if sent.headers().get("authorization").is_some_and(|value| value == "TOKEN") {
            sent.headers_mut().insert("authorization", HeaderValue::from_str(&token).unwrap());
        }
        let response = runtime.block_on(async { app.handle(sent).await });
        let status = response.status();
        prop_assert!(!status.is_server_error(), "{status}");
        prop_assert!(response.headers().contains_key("x-request-id"));
        let problem = response.headers().get("content-type").is_some();
        prop_assert!(problem || !status.is_client_error(), "{status} without a content type");
    });
}
