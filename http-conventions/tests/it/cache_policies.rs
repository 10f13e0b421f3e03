//! `Cache-Control` of responses of the pipeline.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Response, StatusCode, header};
use http_conventions::{
    audit,
    caching::{CacheControl, EntityTag, Validators},
};

use crate::pipeline_fixture::{Desk, json, request};

/// `Cache-Control` of a response of this status to this method, finished twice.
fn policy(method: &str, status: u16, current: &Validators, own: Option<CacheControl>) -> String {
    let desk = Desk::new();
    let head = request(method, "/v1/charges", &[]);
    let exchange = desk.conventions.begin(&head).admit(&head).unwrap();
    let mut answer = json("{}");
    *answer.status_mut() = StatusCode::from_u16(status).unwrap();
    current.apply(answer.headers_mut());
    if let Some(own) = own {
        own.apply(answer.headers_mut());
    }
    let once = exchange.clone().finish(Ok(answer));
    let twice = exchange.finish(Ok(once));
    twice.headers()[header::CACHE_CONTROL]
        .to_str()
        .unwrap()
        .to_owned()
}

/// H9: a read with a validator may be stored by the client and is revalidated; nothing else is
/// stored without a policy of the handler.
#[test]
fn reads_with_validators_are_revalidated() {
    let tagged = Validators::default().with_entity_tag(EntityTag::strong("1").unwrap());
    let dated =
        Validators::default().with_last_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777));
    let none = Validators::default();
    for (method, status, current, expected) in [
        ("GET", 200, &tagged, "private, no-cache"),
        ("GET", 200, &dated, "private, no-cache"),
        ("HEAD", 200, &tagged, "private, no-cache"),
        ("QUERY", 200, &tagged, "private, no-cache"),
        ("GET", 206, &tagged, "private, no-cache"),
        ("GET", 304, &tagged, "private, no-cache"),
        ("GET", 200, &none, "no-store"),
        ("GET", 201, &tagged, "no-store"),
        ("GET", 404, &tagged, "no-store"),
        ("GET", 503, &tagged, "no-store"),
        ("PUT", 200, &tagged, "no-store"),
        ("POST", 200, &tagged, "no-store"),
        ("DELETE", 200, &dated, "no-store"),
    ] {
        assert_eq!(
            policy(method, status, current, None),
            expected,
            "{method} {status}"
        );
    }
}

/// H9: the pipeline keeps the policy of a handler.
#[test]
fn policy_of_the_handler_is_kept() {
    let tagged = Validators::default().with_entity_tag(EntityTag::strong("1").unwrap());
    for own in [
        CacheControl::no_store(),
        CacheControl::private_no_store(),
        CacheControl::public(Duration::from_secs(60)),
        CacheControl::revalidate(),
    ] {
        for status in [200, 304, 404] {
            assert_eq!(policy("GET", status, &tagged, Some(own)), own.to_string());
        }
        assert_eq!(policy("POST", 201, &tagged, Some(own)), own.to_string());
    }
}

/// H8, H9: a 304 has the policy of its 200, and a HEAD that of its GET.
#[tokio::test]
async fn not_modified_has_the_policy_of_the_200() {
    let desk = Desk::new();
    let read = desk.send(&request("GET", "/v1/charges", &[])).await;
    assert_eq!(read.headers()[header::CACHE_CONTROL], "private, no-cache");
    let tag = read.headers()[header::ETAG].to_str().unwrap();
    let again = desk
        .send(&request("GET", "/v1/charges", &[("if-none-match", tag)]))
        .await;
    assert_eq!(again.status(), 304);
    assert_eq!(again.headers()[header::CACHE_CONTROL], "private, no-cache");
    assert_eq!(audit::conditional_read(&read, &again), []);

    let finished = |method| {
        let head = request(method, "/v1/charges", &[]);
        let exchange = desk.conventions.begin(&head).admit(&head).unwrap();
        let mut answer = Response::new(Bytes::new());
        *answer.headers_mut() = read.headers().clone();
        answer.headers_mut().remove(header::CACHE_CONTROL);
        exchange.finish(Ok(answer))
    };
    assert_eq!(audit::head(&finished("GET"), &finished("HEAD")), []);
}
