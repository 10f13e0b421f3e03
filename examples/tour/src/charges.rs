//! Charges over REST: idempotency, preconditions and pagination.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::http::{FullResponse, send};
use super::report::{Mismatch, Step, Stopped, expect, found, passed};
use super::{Tokens, Tour, with_header};

const PROBLEM_JSON: &str = "application/problem+json";

pub(super) async fn chapter(tour: &mut Tour<'_>, tokens: &Tokens) -> Result<(), Stopped> {
    tour.report.chapter("Charges over REST");
    let token = tokens.access.as_str();

    let step = without_a_token(tour).await;
    tour.report.step("no token: 401 with a challenge", step)?;
    let step = wrong_body(tour, token).await;
    tour.report.step("an invalid body: all errors at once", step)?;

    let step = create(tour, token).await;
    let created = tour.report.step("create, with an Idempotency-Key", step)?;
    let step = repeat(tour, token, &created).await;
    tour.report.step("a retry: the first response, replayed", step)?;
    let step = reuse_key(tour, token).await;
    tour.report.step("the same key, another body", step)?;

    let step = read(tour, token, &created).await;
    let tag = tour.report.step("read: an entity tag", step)?;
    let step = read_unchanged(tour, token, &created, &tag).await;
    tour.report.step("read again, If-None-Match", step)?;
    let step = replace(tour, token, &created, Some(&tag), StatusCode::OK).await;
    tour.report.step("replace, If-Match", step)?;
    let step = replace(tour, token, &created, Some(&tag), StatusCode::PRECONDITION_FAILED).await;
    tour.report.step("replace with a stale tag", step)?;
    let step = replace(tour, token, &created, None, StatusCode::PRECONDITION_REQUIRED).await;
    tour.report.step("replace without a tag", step)?;

    let step = pages(tour, token).await;
    let cursor = tour.report.step("seven charges, three per page", step)?;
    let step = forged_cursor(tour, token, &cursor).await;
    tour.report.step("a cursor with one character changed", step)
}

async fn without_a_token(tour: &Tour<'_>) -> Step {
    let mut request = tour.bearing(Method::GET, "/v1/charges", "")?;
    request.headers_mut().remove("authorization");
    let answer = send(request).await?;
    answer.expect(StatusCode::UNAUTHORIZED)?;
    let challenge = answer.expect_header("www-authenticate")?;
    passed(&answer.sent, format_args!("401, WWW-Authenticate: {challenge}"))
}

async fn wrong_body(tour: &Tour<'_>, token: &str) -> Step {
    let body = json!({ "amount": 0, "currency": "EUR" });
    let answer = send(tour.sending(Method::POST, "/v1/charges", token, &body)?).await?;
    answer.expect(StatusCode::UNPROCESSABLE_ENTITY)?;
    expect(
        &answer.sent,
        "content type",
        answer.header("content-type"),
        Some(PROBLEM_JSON),
    )?;
    answer
        .expect_at("/errors/0/pointer", "/amount")?
        .expect_at("/errors/1/pointer", "/currency")?;
    passed(&answer.sent, "422, errors at /amount and /currency")
}

/// The charge that the steps of this chapter read and replace.
struct Created {
    path: String,
    body: String,
}

async fn post_keyed(tour: &Tour<'_>, token: &str, amount: u32) -> Result<FullResponse, Mismatch> {
    let body = json!({ "amount": amount, "currency": "eur", "description": "A book" });
    let request = tour.sending(Method::POST, "/v1/charges", token, &body)?;
    send(with_header(request, "idempotency-key", "tour-charge-1")?).await
}

async fn create(tour: &Tour<'_>, token: &str) -> Step<Created> {
    let answer = post_keyed(tour, token, 1999).await?;
    answer
        .expect(StatusCode::CREATED)?
        .expect_at("/status", "succeeded")?;
    expect(
        &answer.sent,
        "replayed",
        answer.header("idempotency-replayed"),
        None,
    )?;
    let created = Created {
        path: answer.expect_header("location")?.to_owned(),
        body: answer.text(),
    };
    let got = format!("201, Location: {}", created.path);
    found(&answer.sent, got, created)
}

async fn repeat(tour: &Tour<'_>, token: &str, created: &Created) -> Step {
    let answer = post_keyed(tour, token, 1999).await?;
    answer.expect(StatusCode::CREATED)?;
    expect(&answer.sent, "body", answer.text(), created.body.clone())?;
    expect(
        &answer.sent,
        "location",
        answer.header("location"),
        Some(created.path.as_str()),
    )?;
    expect(
        &answer.sent,
        "replayed",
        answer.header("idempotency-replayed"),
        Some("true"),
    )?;
    passed(&answer.sent, "201, the same bytes, Idempotency-Replayed: true")
}

async fn reuse_key(tour: &Tour<'_>, token: &str) -> Step {
    let answer = post_keyed(tour, token, 2000).await?;
    answer.expect(StatusCode::CONFLICT)?;
    let kind = answer.string_at("/type")?;
    passed(
        &answer.sent,
        format_args!("409 {}", kind.rsplit('/').next().unwrap_or_default()),
    )
}

async fn read(tour: &Tour<'_>, token: &str, created: &Created) -> Step<String> {
    let answer = send(tour.bearing(Method::GET, &created.path, token)?).await?;
    answer.expect(StatusCode::OK)?;
    expect(&answer.sent, "body", answer.text(), created.body.clone())?;
    let tag = answer.expect_header("etag")?.to_owned();
    found("GET the charge", format!("200, ETag: {tag}"), tag)
}

async fn read_unchanged(tour: &Tour<'_>, token: &str, created: &Created, tag: &str) -> Step {
    let request = tour.bearing(Method::GET, &created.path, token)?;
    let answer = send(with_header(request, "if-none-match", tag)?).await?;
    answer.expect(StatusCode::NOT_MODIFIED)?;
    expect("GET the charge", "body", answer.text(), String::new())?;
    expect(
        "GET the charge",
        "content type",
        answer.header("content-type"),
        None,
    )?;
    passed("GET the charge", "304, no body")
}

async fn replace(
    tour: &Tour<'_>,
    token: &str,
    created: &Created,
    tag: Option<&str>,
    status: StatusCode,
) -> Step {
    let body = json!({ "amount": 1999, "currency": "eur", "description": "Two books" });
    let mut request = tour.sending(Method::PUT, &created.path, token, &body)?;
    if let Some(tag) = tag {
        request = with_header(request, "if-match", tag)?;
    }
    let answer = send(request).await?;
    answer.expect(status)?;
    let got = match status {
        StatusCode::OK => {
            answer.expect_at("/version", 2)?;
            format!("200, version 2, ETag: {}", answer.expect_header("etag")?)
        }
        _ => format!("{} {}", status.as_u16(), answer.string_at("/title")?),
    };
    passed("PUT the charge", got)
}

async fn pages(tour: &Tour<'_>, token: &str) -> Step<String> {
    for amount in 1..=6 {
        let body = json!({ "amount": amount * 100, "currency": "eur" });
        send(tour.sending(Method::POST, "/v1/charges", token, &body)?)
            .await?
            .expect(StatusCode::CREATED)?;
    }
    let (mut seen, mut sizes, mut cursor) = (BTreeSet::new(), Vec::new(), None::<String>);
    let mut first_cursor = String::new();
    loop {
        let after = cursor
            .as_ref()
            .map(|cursor| format!("&after={cursor}"))
            .unwrap_or_default();
        let answer = send(tour.bearing(Method::GET, &format!("/v1/charges?limit=3{after}"), token)?).await?;
        let page = answer.expect(StatusCode::OK)?.json()?;
        let ids = page
            .pointer("/data")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let before = seen.len();
        seen.extend(ids.filter_map(|charge| charge.pointer("/id")?.as_str().map(str::to_owned)));
        sizes.push(seen.len() - before);
        if page.pointer("/has_more") != Some(&Value::Bool(true)) || sizes.len() > 9 {
            break;
        }
        let next = answer.string_at("/next_cursor")?;
        if first_cursor.is_empty() {
            first_cursor.clone_from(&next);
        }
        cursor = Some(next);
    }
    let sent = "GET /v1/charges?limit=3&after=…";
    expect(sent, "pages of new charges", sizes, vec![3, 3, 1])?;
    found(sent, "pages of 3, 3 and 1, no duplicates", first_cursor)
}

async fn forged_cursor(tour: &Tour<'_>, token: &str, cursor: &str) -> Step {
    let mut forged = cursor.to_owned();
    let other = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.push(other);
    let answer = send(tour.bearing(Method::GET, &format!("/v1/charges?after={forged}"), token)?).await?;
    answer.expect(StatusCode::BAD_REQUEST)?;
    passed(&answer.sent, format_args!("400 {}", answer.string_at("/title")?))
}
