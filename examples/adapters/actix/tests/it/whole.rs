//! The extractor of whole requests, and the conversion of responses.
#![expect(clippy::unwrap_used, reason = "a failure ends the test")]

use actix_web::{App, HttpResponse, body, test, web};
use bytes::Bytes;
use host_adapter_actix::{Limits, Whole, respond};
use http::Response;
use http_body_util::Full;

/// Shows the request in the response.
async fn show(Whole(request): Whole) -> HttpResponse {
    let (parts, content) = request.into_parts();
    let tags = parts.headers.get_all("x-tag").iter().count();
    let response = Response::builder()
        .status(207)
        .header("x-line", format!("{} {} {tags}", parts.method, parts.uri))
        .header("set-cookie", "a=1")
        .header("set-cookie", "b=2");
    respond(response.body(Full::new(content)).unwrap())
}

async fn send(limits: Option<Limits>, content: &'static [u8]) -> HttpResponse<Bytes> {
    let mut app = App::new().service(web::scope("/nested").route("/show", web::to(show)));
    if let Some(limits) = limits {
        app = app.app_data(web::Data::new(limits));
    }
    let service = test::init_service(app).await;
    let call = test::TestRequest::patch()
        .uri("/nested/show?a=1")
        .set_payload(content);
    let call = call.append_header(("x-tag", "1")).append_header(("x-tag", "2"));
    let (_, response) = test::call_service(&service, call.to_request()).await.into_parts();
    let (response, content) = response.into_parts();
    response.set_body(body::to_bytes(content).await.unwrap())
}

#[actix_web::test]
async fn handler_gets_the_request_and_its_response_is_sent() {
    let response = send(None, b"\0content").await;
    assert_eq!(response.status().as_u16(), 207);
    assert_eq!(
        response.headers().get("x-line").unwrap(),
        "PATCH /nested/show?a=1 2"
    );
    assert_eq!(response.headers().get_all("set-cookie").count(), 2);
    assert_eq!(response.into_body(), Bytes::from_static(b"\0content"));
}

#[actix_web::test]
async fn larger_content_is_refused_with_413() {
    let limits = Limits {
        body: 3,
        ..Limits::default()
    };
    assert_eq!(send(Some(limits.clone()), b"four").await.status().as_u16(), 413);
    assert_eq!(send(Some(limits), b"one").await.status().as_u16(), 207);
    const MOST: &[u8] = &[b'x'; 1 << 20];
    const MORE: &[u8] = &[b'x'; (1 << 20) + 1];
    assert_eq!(send(None, MOST).await.status().as_u16(), 207);
    assert_eq!(send(None, MORE).await.status().as_u16(), 413);
}
