//! The pipeline compresses last, and accepts the tags of compressed responses.

use std::{cell::Cell, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_conventions::{
    audit::{self, audit},
    caching::{CacheControl, EntityTag, Preconditions, Validators},
    errors::{ErrorStatus, Problem, ReceivedProblem},
    idempotency::KeyScope,
    pipeline::{Exchange, Limited},
};

use crate::{
    compression::{compression, decoded},
    pipeline_fixture::{Desk, assert_complete, json, request},
};

const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
const GZIP: (&str, &str) = ("accept-encoding", "gzip");
const SCOPE: KeyScope<'static> = KeyScope::new("user-7", "/v1/charges");

fn desk() -> Desk {
    Desk::configured(|builder| builder.with_compression(compression()))
}

fn begin(desk: &Desk, request: &Request<Bytes>) -> Exchange<Limited> {
    let exchange = desk.conventions.begin(request).admit(request).unwrap();
    exchange.skip_rate_limit()
}

fn page() -> Response<Bytes> {
    let mut response = json(&format!("{{\"text\":\"{}\"}}", "x".repeat(2000)));
    CacheControl::public(Duration::from_secs(60)).apply(response.headers_mut());
    response
}

fn tag() -> Validators {
    Validators::default().with_entity_tag(EntityTag::strong("v").unwrap())
}

/// A resource with the state `"v"`.
async fn send(desk: &Desk, request: &Request<Bytes>) -> Response<Bytes> {
    let exchange = begin(desk, request);
    let preconditions = exchange.preconditions(request);
    let handler = async { handle(desk, request, preconditions) };
    exchange.run(request, SCOPE, handler).await
}

fn handle(
    desk: &Desk,
    request: &Request<Bytes>,
    preconditions: Preconditions<'_>,
) -> Result<Response<Bytes>, Problem> {
    let base = desk.conventions.problems();
    if request.method().is_safe() {
        return preconditions.answer_read(&tag(), page(), base);
    }
    preconditions.with_required().check_write(Some(&tag()), base)?;
    Ok(json("{}"))
}

fn coding(response: &Response<Bytes>) -> Option<&str> {
    Some(
        response
            .headers()
            .get(header::CONTENT_ENCODING)?
            .to_str()
            .unwrap(),
    )
}

/// H30: a response is finished and then compressed; without the setting nothing changes.
#[tokio::test]
async fn finished_response_is_compressed() {
    let accepts = request("GET", "/v1/charges", &[GZIP]);
    let packed = send(&desk(), &accepts).await;
    assert_eq!(coding(&packed), Some("gzip"));
    assert_eq!(decoded(&packed), page().body());
    assert_complete(&packed, "/v1/charges");
    let vary = packed.headers()["vary"].to_str().unwrap();
    assert!(
        vary.contains("accept-encoding") && vary.contains("origin"),
        "{vary}"
    );
    assert_eq!(audit(&accepts, &packed), []);

    let plain = send(&desk(), &request("GET", "/v1/charges", &[])).await;
    assert_eq!((coding(&plain), plain.body()), (None, page().body()));
    assert_eq!(audit::codings(&plain, &packed), []);
    let off = send(&Desk::new(), &accepts).await;
    assert_eq!(coding(&off), None);
    assert!(
        !off.headers()["vary"]
            .to_str()
            .unwrap()
            .contains("accept-encoding")
    );
}

/// H30, H8: a client revalidates the compressed response by its tag.
#[tokio::test]
async fn compressed_response_is_revalidated() {
    let desk = desk();
    for accept in [GZIP, ("accept-encoding", "identity")] {
        let first = send(&desk, &request("GET", "/v1/charges", &[accept])).await;
        let etag = first.headers()["etag"].to_str().unwrap();
        let again = request("GET", "/v1/charges", &[accept, ("if-none-match", etag)]);
        let again = send(&desk, &again).await;
        assert_eq!(again.status(), 304);
        assert_eq!(audit::conditional_read(&first, &again), []);
    }
    let stale = request("GET", "/v1/charges", &[GZIP, ("if-none-match", "\"u-gzip\"")]);
    assert_eq!(send(&desk, &stale).await.status(), 200);
}

/// H30, H7: a client writes with the tag of the compressed response, and not with a stale one.
#[tokio::test]
async fn write_with_the_tag_of_a_coding_passes() {
    let desk = desk();
    let status = async |method: &str, tag: &str| {
        let request = request(method, "/v1/charges", &[("if-match", tag)]);
        send(&desk, &request).await.status().as_u16()
    };
    assert_eq!(status("PATCH", "\"v\"").await, 200);
    assert_eq!(status("PATCH", "\"v-gzip\"").await, 200);
    assert_eq!(status("PATCH", "\"u-gzip\"").await, 412);
    assert_eq!(status("PATCH", "\"v-br\"").await, 412);
    assert_eq!(status("PATCH", "W/\"v-gzip\"").await, 412);
}

/// H30, H6: the response is stored as it is, and each replay is compressed as its request asks.
#[tokio::test]
async fn replay_is_compressed_as_its_request_asks() {
    let desk = desk();
    let runs = Cell::new(0);
    let post = async |accept: &str| {
        let request = request("POST", "/v1/charges", &[KEY, ("accept-encoding", accept)]);
        let handler = async {
            runs.set(runs.get() + 1);
            let mut response = page();
            tag().apply(response.headers_mut());
            response
        };
        begin(&desk, &request).run(&request, SCOPE, handler).await
    };
    let first = post("gzip").await;
    assert_eq!(
        (coding(&first), &first.headers()["etag"]),
        (Some("gzip"), &"\"v-gzip\"".parse().unwrap())
    );
    let plain = post("identity").await;
    assert_eq!(
        (coding(&plain), &plain.headers()["etag"]),
        (None, &"\"v\"".parse().unwrap())
    );
    let again = post("gzip").await;
    assert_eq!((coding(&again), again.body()), (Some("gzip"), first.body()));
    for replay in [&plain, &again] {
        assert_eq!(replay.headers()["idempotency-replayed"], "true");
        assert_eq!(decoded(replay), page().body());
    }
    assert_eq!(runs.get(), 1);
}

/// H30: a response without `Cache-Control` is `no-store`, and is compressed by opt-in only.
#[tokio::test]
async fn private_response_is_compressed_by_opt_in() {
    let desk = desk();
    let request = request("GET", "/v1/charges", &[GZIP]);
    let answer = || {
        let mut response = page();
        response.headers_mut().remove(header::CACHE_CONTROL);
        response
    };
    let kept = begin(&desk, &request).finish(Ok(answer()));
    assert_eq!(
        (coding(&kept), &kept.headers()["cache-control"]),
        (None, &"no-store".parse().unwrap())
    );
    let mut exchange = begin(&desk, &request);
    exchange.danger_compress_secrets();
    let packed = exchange.run(&request, SCOPE, async { answer() }).await;
    assert_eq!(coding(&packed), Some("gzip"));
    assert_eq!(packed.headers()["cache-control"], "no-store");
}

/// H30, H13: a problem follows the same rules, and its content is complete.
#[test]
fn problem_is_compressed_by_the_same_rules() {
    let desk = desk();
    let request = request("GET", "/v1/charges", &[GZIP]);
    let problem = |length: usize| Problem::new(ErrorStatus::CONFLICT).with_detail("x".repeat(length));
    let mut exchange = begin(&desk, &request);
    assert_eq!(
        coding(&exchange.clone().finish(Err(problem(2000)))),
        None,
        "no-store"
    );
    exchange.danger_compress_secrets();
    let outer = exchange.clone();
    assert_eq!(
        coding(&exchange.clone().refuse(problem(20)).into_response()),
        None,
        "small"
    );
    let packed = exchange.refuse(problem(2000)).into_response();
    assert_eq!(coding(&packed), Some("gzip"));
    let read = ReceivedProblem::parse(&decoded(&packed)).unwrap();
    assert_eq!(read.instance(), Some("/v1/charges"));
    // a layer around the service finishes it again
    let again = outer.finish(Ok(packed.clone()));
    assert_eq!((again.headers(), again.body()), (packed.headers(), packed.body()));
}

/// H30, H2: the responses to GET and HEAD agree, whether or not the handler of HEAD has content.
#[tokio::test]
async fn head_agrees_with_get() {
    let desk = desk();
    let get = send(&desk, &request("GET", "/v1/charges", &[GZIP])).await;
    let mut request = request("GET", "/v1/charges", &[GZIP]);
    *request.method_mut() = Method::HEAD;
    // as a server sends it
    let head = send(&desk, &request).await.map(|_| Bytes::new());
    assert_eq!(audit::head(&get, &head), []);
    let length = page().body().len();
    let mut answer = page().map(|_| Bytes::new());
    tag().apply(answer.headers_mut());
    answer.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    let head = begin(&desk, &request).finish(Ok(answer));
    assert_eq!(audit::head(&get, &head), []);
}
