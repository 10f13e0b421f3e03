//! Error types of a host.

use std::{
    error::Error,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_conventions::{
    errors::{ErrorStatus, HostError, Problem, ProblemBase, ProblemType, ReceivedProblem},
    idempotency::KeyScope,
    limits::RetryAfter,
    ports::StoreError,
};
use proptest::prelude::*;

use crate::pipeline_fixture::{BASE, Desk, assert_complete, request};

const FULL: ProblemType = ProblemType::new("desk-full", ErrorStatus::CONFLICT, "Desk full", "Wait.");

/// Text that must not reach a client.
const SECRET: &str = "10.0.0.7: password authentication failed";

/// Error type of a host, as it is written with `thiserror`.
#[derive(Debug, thiserror::Error)]
enum DeskError {
    #[error("no such charge")]
    NotFound,
    #[error("the desk is full")]
    Full,
    #[error("the amount is negative")]
    Invalid,
    #[error(transparent)]
    Refused(#[from] Problem),
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error("the mail service is busy")]
    Busy,
    #[error("the disk failed")]
    Disk(#[from] io::Error),
}

impl HostError for DeskError {
    fn problem(&self, problems: &ProblemBase) -> Problem {
        match self {
            Self::NotFound => Problem::new(ErrorStatus::NOT_FOUND),
            Self::Full => FULL.problem(problems),
            Self::Invalid => Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT).with_detail("amount"),
            Self::Refused(problem) => problem.clone(),
            Self::Store(error) => error.problem(problems),
            Self::Busy => Problem::service_unavailable(RetryAfter::new(Duration::from_secs(7))),
            Self::Disk(_) => Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR),
        }
    }
}

/// An error type that maps no cause.
#[derive(Debug, thiserror::Error)]
#[error("{SECRET}")]
struct Unmapped;

impl HostError for Unmapped {}

type Logged = Arc<Mutex<Vec<(String, u16, String)>>>;

/// A desk that logs the messages of a source and of its causes.
fn logging() -> (Desk, Logged) {
    let logged = Logged::default();
    let log = Arc::clone(&logged);
    let desk = Desk::configured(|builder| {
        builder.with_error_log(move |id, status, source| {
            let mut text = source.to_string();
            let mut cause = source.source();
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            let line = (id.as_str().to_owned(), status.as_u16(), text);
            log.lock().unwrap().push(line);
        })
    });
    (desk, logged)
}

/// Response to a request whose handler fails.
async fn fail<E: HostError>(desk: &Desk, key: &str, error: E) -> Response<Bytes> {
    let fields: &[(&str, &str)] = match key {
        "" => &[],
        key => &[("idempotency-key", key)],
    };
    let request = request("POST", "/v1/charges", fields);
    let exchange = desk.conventions.begin(&request).admit(&request).unwrap();
    let handler = async { Err::<Response<Bytes>, _>(error) };
    let scope = KeyScope::new("user-7", "/v1/charges");
    exchange.skip_rate_limit().run(&request, scope, handler).await
}

/// H12, H13: each cause of a host's error type has its status; the response is a finished problem
/// without text of the source.
#[tokio::test]
async fn each_cause_has_its_status() {
    let (desk, logged) = logging();
    let gone = Problem::new(ErrorStatus::GONE).with_source(Unmapped);
    let cases = [
        (DeskError::NotFound, 404, None),
        (DeskError::Full, 409, None),
        (DeskError::Invalid, 422, None),
        (DeskError::from(gone), 410, None),
        (DeskError::from(StoreError::unavailable(SECRET)), 503, Some("1")),
        (DeskError::from(StoreError::corrupt(SECRET)), 500, None),
        (DeskError::Busy, 503, Some("7")),
        (DeskError::from(io::Error::other(SECRET)), 500, None),
    ];
    for (index, (error, status, wait)) in cases.into_iter().enumerate() {
        let message = error.to_string();
        let refused = fail(&desk, &format!("once-{index}"), error).await;
        assert_eq!(refused.status(), status, "{message}");
        assert_complete(&refused, "/v1/charges");
        let waits = refused.headers().get("retry-after");
        assert_eq!(waits.map(|wait| wait.to_str().unwrap()), wait, "{message}");
        let text = format!("{:?} {:?}", refused.headers(), refused.body());
        assert!(!text.contains("10.0.0.7") && !text.contains(&message), "{text}");
        let is_detailed = ReceivedProblem::parse(refused.body()).unwrap().detail().is_some();
        assert_eq!(is_detailed, status == 422, "{message}");
        let last = logged.lock().unwrap().last().cloned().unwrap();
        assert_eq!(last.0, refused.headers()["x-request-id"]);
        assert_eq!(last.1, status);
        assert!(last.2.starts_with(&message), "{last:?}");
    }
    let full = fail(&desk, "", DeskError::Full).await;
    let problem = ReceivedProblem::parse(full.body()).unwrap();
    assert_eq!(problem.type_uri(), format!("{BASE}desk-full"));
}

/// H12: the source goes to the log of the host with its causes, once for each response, and not
/// with a replay.
#[tokio::test]
async fn source_is_logged_once() {
    let (desk, logged) = logging();
    let lost = || DeskError::from(StoreError::unavailable(SECRET));
    let first = fail(&desk, "", lost()).await;
    let lines = std::mem::take(&mut *logged.lock().unwrap());
    let expected = format!("the store failed: store unavailable: {SECRET}");
    assert_eq!(lines.len(), 1);
    assert_eq!((lines[0].1, &lines[0].2), (503, &expected));

    // a layer that finishes the response again
    let head = request("POST", "/v1/charges", &[]);
    let exchange = desk.conventions.begin(&head).admit(&head).unwrap();
    let again = exchange.finish(Ok(first));
    assert_eq!(again.status(), 503);
    assert_eq!(logged.lock().unwrap().len(), 0);

    for _ in 0..2 {
        assert_eq!(fail(&desk, "key-1", DeskError::NotFound).await.status(), 404);
    }
    let lines = std::mem::take(&mut *logged.lock().unwrap());
    assert_eq!(lines.len(), 1, "{lines:?}");
    // a problem without a source is not logged
    let plain = Problem::new(ErrorStatus::NOT_FOUND);
    assert_eq!(fail(&desk, "", plain).await.status(), 404);
    assert_eq!(logged.lock().unwrap().len(), 0);
}

/// H12: an error type that maps nothing is a 500 without its text, and so is an unmapped failure of
/// a check.
#[tokio::test]
async fn unmapped_error_is_a_500_without_text() {
    let (desk, logged) = logging();
    let refused = fail(&desk, "", Unmapped).await;
    let head = request("GET", "/v1/charges", &[]);
    let exchange = desk.conventions.begin(&head).admit(&head).unwrap();
    let checked = exchange
        .check(Err::<(), _>(Unmapped))
        .unwrap_err()
        .into_response();
    let internal = exchange.refuse(Problem::internal(Unmapped)).into_response();
    for refused in [refused, checked, internal] {
        assert_eq!(refused.status(), 500);
        assert_complete(&refused, "/v1/charges");
        assert!(!String::from_utf8_lossy(refused.body()).contains("10.0.0.7"));
    }
    let lines = logged.lock().unwrap().clone();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.1 == 500 && line.2 == SECRET));
}

/// H12: `?` in a handler that returns problems converts a failure of a store.
#[test]
fn store_failures_convert_to_problems() {
    for (error, status) in [
        (StoreError::unavailable(SECRET), StatusCode::SERVICE_UNAVAILABLE),
        (StoreError::corrupt(SECRET), StatusCode::INTERNAL_SERVER_ERROR),
    ] {
        let problem = Problem::from(error);
        assert_eq!(problem.status(), status);
        assert!(Error::source(&problem).is_some());
        assert!(!format!("{problem:?} {problem}").contains("10.0.0.7"));
        let response = problem.into_response();
        let has_wait = response.headers().contains_key("retry-after");
        assert_eq!(has_wait, status == StatusCode::SERVICE_UNAVAILABLE);
    }
}

proptest! {
    /// H12: a request with any field values and any target is never a 500 of the pipeline.
    #[test]
    fn request_alone_never_causes_a_500(
        target in "/v1/charges(/[!-~&&[^#?\"<>\\\\^`{|}%]]{0,8})?(\\?[a-z=&]{0,12})?",
        method in "GET|HEAD|POST|PUT|PATCH|DELETE|QUERY|OPTIONS|TRACE",
        fields in proptest::collection::vec((0..10_usize, "[ -~]{0,24}"), 0..6),
    ) {
        const NAMES: [&str; 10] = [
            "idempotency-key", "if-match", "if-none-match", "range", "if-range", "content-digest",
            "origin", "access-control-request-method", "x-request-id", "content-length",
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut sent = request(&method, &target, &[]);
        for (name, value) in fields {
            sent.headers_mut().append(NAMES[name], value.parse().unwrap());
        }
        let answer = runtime.block_on(Desk::new().send(&sent));
        prop_assert!(answer.status().as_u16() < 500, "{:?} {:?}", sent, answer);
    }
}
