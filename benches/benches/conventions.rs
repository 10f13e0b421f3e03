//! Problems, preconditions, cursors, idempotency keys and rate limits.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

#[path = "conventions/stacks.rs"]
mod stacks;

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use criterion::{BatchSize, Criterion};
use futures_util::FutureExt as _;
use governor::clock::FakeRelativeClock;
use headers::{ETag, HeaderMapExt as _, IfNoneMatch};
use headers_accept::Accept as PeerAccept;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_conventions::{
    caching::{EntityTag, PreconditionDecision, Preconditions, Validators},
    content::{Accept, AcceptLanguage, Compression, ContentCoding, LanguageTag, MediaType, Offers},
    errors::{ErrorStatus, ProblemBase, ProblemType},
    idempotency::{Idempotency, KeyScope, MemoryIdempotencyStore},
    limits::{
        self, CallerConcurrency, ConcurrencyLimit, MemoryRateLimitStore, OnStoreFailure, Policy, Priority,
        Quota, RateLimiter, State, decide,
    },
    paging::{CursorBinding, CursorKey, CursorKeyring, Direction, PositionValue},
    ports::{Clock, OsEntropy, SystemClock},
    tracing::{Sampling, TRACEPARENT, TraceContext},
};
use problem_details::ProblemDetails;
use serde::Serialize;
use sha2::Sha256;

const TYPE: &str = "https://api.example.com/problems/out-of-stock";
const TITLE: &str = "Out of stock";
const DETAIL: &str = "item B00027Y5QG is gone";
const OUT_OF_STOCK: ProblemType = ProblemType::new(
    "out-of-stock",
    ErrorStatus::CONFLICT,
    TITLE,
    "It cannot be ordered now.",
);

#[derive(Serialize)]
struct Stock {
    stock: i64,
}

fn problem(criterion: &mut Criterion) {
    let base = ProblemBase::new("https://api.example.com/problems/").expect("a base");
    let ours = || {
        let problem = OUT_OF_STOCK.problem(black_box(&base)).with_detail(DETAIL);
        problem.with_extension("stock", black_box(0)).to_bytes()
    };
    let peer = || {
        let problem = ProblemDetails::from_status_code(StatusCode::CONFLICT)
            .with_type(Uri::from_static(TYPE))
            .with_title(TITLE)
            .with_detail(DETAIL)
            .with_extensions(Stock { stock: black_box(0) });
        serde_json::to_vec(&problem).expect("JSON")
    };
    let parsed = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON");
    assert_eq!(parsed(&ours()), parsed(&peer()));

    let mut group = criterion.benchmark_group("conventions/problem");
    group.bench_function("ours", |b| b.iter(ours));
    group.bench_function("problem_details", |b| b.iter(peer));
    group.finish();
}

fn if_none_match(criterion: &mut Criterion) {
    let mut headers = HeaderMap::new();
    let tags = HeaderValue::from_static(r#""5f8a1c", W/"77d3e0", "c3piozzzz""#);
    headers.insert(header::IF_NONE_MATCH, tags);
    let now = SystemTime::now();
    let current = Validators::default().with_entity_tag(EntityTag::strong("c3piozzzz").expect("a tag"));
    let etag: ETag = r#""c3piozzzz""#.parse().expect("a tag");

    let mut group = criterion.benchmark_group("conventions/if-none-match");
    group.bench_function("ours", |b| {
        b.iter(|| {
            let decision =
                Preconditions::new(&Method::GET, black_box(&headers), now).evaluate(Some(&current));
            assert_eq!(decision, PreconditionDecision::NotModified);
        });
    });
    group.bench_function("headers", |b| {
        b.iter(|| {
            let field: IfNoneMatch = black_box(&headers).typed_get().expect("a field");
            assert!(!field.precondition_passes(&etag));
        });
    });
    group.finish();
}

/// `Accept` values of programs and of a browser.
fn accept(criterion: &mut Criterion) {
    const BROWSER: &str =
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
    let ours = Offers::<MediaType>::parse("application/json", &["text/html"]).expect("media types");
    let theirs =
        ["application/json", "text/html"].map(|text| mediatype::MediaType::parse(text).expect("a type"));

    let mut group = criterion.benchmark_group("conventions/accept");
    for (row, line, expected) in [
        ("JSON", "application/json", "application/json"),
        ("browser", BROWSER, "text/html"),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(line));
        group.bench_function(format!("ours, {row}"), |b| {
            b.iter(|| {
                let chosen = Accept::of(black_box(&headers)).choose(&ours);
                assert_eq!(chosen.map(MediaType::essence), Some(expected));
            });
        });
        group.bench_function(format!("headers-accept, {row}"), |b| {
            b.iter(|| {
                let field: PeerAccept = black_box(&headers).typed_get().expect("a field");
                let chosen = field.negotiate(&theirs).expect("a type");
                assert_eq!(
                    chosen.subty.as_str(),
                    expected.rsplit('/').next().unwrap_or_default()
                );
            });
        });
    }
    group.finish();
}

fn accept_language(criterion: &mut Criterion) {
    const LINE: &str = "de-CH, de;q=0.9, en;q=0.8, fr;q=0.7";
    let ours = Offers::<LanguageTag>::parse("en", &["de", "fr"]).expect("languages");
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static(LINE));

    let mut group = criterion.benchmark_group("conventions/accept-language");
    group.bench_function("ours", |b| {
        b.iter(|| {
            let chosen = AcceptLanguage::of(black_box(&headers)).choose(&ours);
            assert_eq!(chosen.as_str(), "de");
        });
    });
    group.bench_function("accept-language", |b| {
        b.iter(|| {
            let line = black_box(&headers)[header::ACCEPT_LANGUAGE]
                .to_str()
                .expect("ASCII");
            let common = accept_language::intersection(line, &["en", "de", "fr"]);
            assert_eq!(common.first().map(String::as_str), Some("de"));
        });
    });
    group.finish();
}

fn cursor(criterion: &mut Criterion) {
    const ROW: &str = "ch_01JD2Q8M7XK3";
    let now = SystemTime::now();
    let keyring = CursorKeyring::new(CursorKey::new(1, [7; 32]));
    let bind = || CursorBinding::new(black_box("/v1/charges"), "user-7").with_sort("created,id");
    let binding = bind();
    let position = [PositionValue::from(1_800_000_000), PositionValue::from(ROW)];
    let seal = || keyring.seal(black_box(&position), Direction::Forward, &binding, now);
    let sealed = seal().expect("it fits");

    // the signed value: the fixed part, an integer and a text with their tags
    let payload = vec![1; 27 + 9 + 3 + ROW.len()];
    let prepared: Hmac<Sha256> = Hmac::new_from_slice(&[7; 32]).expect("a key");

    let mut group = criterion.benchmark_group("conventions/cursor");
    group.bench_function("ours, seal", |b| b.iter(|| seal().expect("it fits")));
    group.bench_function("ours, open", |b| {
        b.iter(|| keyring.open(black_box(&sealed), &binding, now).expect("valid"));
    });
    // the work of a page in the middle of a list
    group.bench_function("ours, bind, open and seal", |b| {
        b.iter(|| {
            let binding = bind();
            let opened = keyring.open(black_box(&sealed), &binding, now).expect("valid");
            keyring.seal(&opened.values, Direction::Forward, &binding, now)
        });
    });
    group.bench_function("floor", |b| {
        b.iter(|| prepared.clone().chain_update(black_box(&payload)).finalize());
    });
    group.finish();
}

/// A clock that advances an hour per reading, so that records expire and the store keeps its size.
struct HastyClock(AtomicU64);

impl Clock for HastyClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(3600 * self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

fn idempotency(criterion: &mut Criterion) {
    let problems = ProblemBase::new("https://api.example.com/problems/").expect("a base");
    let store = || Arc::new(MemoryIdempotencyStore::default());
    let fresh = Idempotency::new(
        store(),
        HastyClock(AtomicU64::new(500_000)),
        &OsEntropy,
        problems.clone(),
    );
    let replayed = Idempotency::new(store(), Arc::new(SystemClock), &OsEntropy, problems);
    let run = |idempotency: &Idempotency, request: &Request<Bytes>| {
        let handler = async { Response::new(Bytes::from_static(br#"{"id":"ch_1"}"#)) };
        let scope = KeyScope::new("user-7", "/v1/charges");
        let answered = idempotency.run(black_box(request), scope, handler).now_or_never();
        answered
            .expect("a memory store does not wait")
            .expect("an answer")
    };
    let request = |key: u64| {
        let request = Request::post("/v1/charges").header("idempotency-key", format!("key-{key:020}"));
        let body = Bytes::from_static(br#"{"amount":1000,"currency":"eur","source":"tok_visa"}"#);
        request.body(body).expect("a request")
    };

    let mut group = criterion.benchmark_group("conventions/idempotency");
    let mut keys = 0..;
    group.bench_function("ours, claim and complete", |b| {
        let next = || request(keys.next().unwrap_or_default());
        b.iter_batched_ref(next, |request| run(&fresh, request), BatchSize::SmallInput);
    });
    let first = request(0);
    run(&replayed, &first);
    group.bench_function("ours, replay", |b| b.iter(|| run(&replayed, &first)));
    group.finish();
}

/// A limit of 10^9 per second: no request is refused on either side.
fn policy() -> Policy {
    let quota = Quota::per(1_000_000_000, Duration::from_secs(1)).expect("a quota");
    Policy::new("user", quota).expect("a name")
}

fn their_quota() -> governor::Quota {
    governor::Quota::per_second(NonZeroU32::new(1_000_000_000).expect("not zero"))
}

fn gcra(criterion: &mut Criterion) {
    let (policy, now) = (policy(), SystemTime::now());
    let peer = governor::RateLimiter::direct_with_clock(their_quota(), FakeRelativeClock::default());
    let mut state = State::default();

    let mut group = criterion.benchmark_group("conventions/gcra");
    group.bench_function("ours", |b| {
        b.iter(
            || match decide(black_box(state), policy.quota(), 1, black_box(now)) {
                limits::RateLimitDecision::Allowed { state: after } => state = after,
                // the bucket is empty after 10^9 rounds
                limits::RateLimitDecision::Denied { .. } => state = State::default(),
            },
        );
    });
    group.bench_function("governor", |b| b.iter(|| black_box(&peer).check().is_ok()));
    group.finish();
}

/// Callers in an order that a processor cannot predict.
fn keyed(criterion: &mut Criterion) {
    let (policy, now) = (policy(), SystemTime::now());
    for callers in [10_000_usize, 1_000_000] {
        let names: Vec<String> = (0..callers).map(|number| format!("user-{number:012}")).collect();
        let ours = MemoryRateLimitStore::with_capacity(callers);
        let peer = governor::RateLimiter::dashmap_with_clock(their_quota(), FakeRelativeClock::default());
        for name in &names {
            assert!(ours.take(&policy.spend(name), now).is_allowed());
            assert!(peer.check_key(name).is_ok());
        }
        let next_key = |at: &mut usize| {
            *at = at
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            names.get((*at >> 33) % callers).expect("a name")
        };
        let (mut at, mut there) = (1, 1);

        let mut group = criterion.benchmark_group(format!("conventions/rate limit of {callers}"));
        group.bench_function("ours", |b| {
            b.iter(|| ours.take(&policy.spend(next_key(&mut at)), black_box(now)));
        });
        group.bench_function("governor", |b| {
            b.iter(|| black_box(&peer).check_key(next_key(&mut there)).is_ok());
        });
        group.finish();
    }
}

/// Two policies through the port, with the fields of the response.
fn limiter(criterion: &mut Criterion) {
    let (user, address) = (
        policy(),
        Policy::new("address", *policy().quota()).expect("a name"),
    );
    let store = Arc::new(MemoryRateLimitStore::default());
    let limiter = RateLimiter::new(store, Arc::new(SystemClock), OnStoreFailure::FailClosed);
    let mut group = criterion.benchmark_group("conventions/limiter");
    group.bench_function("ours, two policies and their fields", |b| {
        b.iter(|| {
            let spends = [
                address.spend(black_box("203.0.113.7")),
                user.spend(black_box("user-7")),
            ];
            let checked = limiter.check(&spends).now_or_never();
            let mut headers = HeaderMap::new();
            let standings = checked.expect("a memory store does not wait").expect("it passes");
            standings.apply(&mut headers);
            headers
        });
    });
    group.finish();
}

/// The stages that a host turns on, each alone.
fn stages(criterion: &mut Criterion) {
    static CODINGS: [ContentCoding; 1] = [ContentCoding::GZIP];
    let sent = HeaderValue::from_static("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let traced = HeaderMap::from_iter([(TRACEPARENT, sent)]);
    let trace = |headers: &HeaderMap| {
        let context = TraceContext::adopt_or_begin(black_box(headers), &OsEntropy, Sampling::NEVER);
        let mut outbound = HeaderMap::new();
        context.apply(&mut outbound);
        outbound
    };
    let (limit, callers) = (ConcurrencyLimit::new(100), CallerConcurrency::new(100));
    // the encoder is not measured
    let compression = Compression::new(&CODINGS, |_, _| Some(vec![0; 64]));
    let request = Request::get("/v1/rates").header("accept-encoding", "gzip, deflate, br, zstd");
    let request = request.body(()).expect("a request");
    let content = Bytes::from(vec![b'0'; 2048]);
    let response = || {
        let response = Response::builder().header("content-type", "application/json");
        let response = response.header("cache-control", "public, max-age=60");
        let response = response.header("etag", "\"5f8a1c\"");
        response.body(content.clone()).expect("a response")
    };

    let mut group = criterion.benchmark_group("conventions/stages");
    group.bench_function("trace context, continued", |b| b.iter(|| trace(&traced)));
    group.bench_function("trace context, begun", |b| b.iter(|| trace(&HeaderMap::new())));
    group.bench_function("concurrency limit", |b| {
        b.iter(|| limit.acquire(Priority::Ordinary).expect("a permit"));
    });
    group.bench_function("concurrency limit of a caller", |b| {
        b.iter(|| callers.acquire(black_box("user-7")).expect("a permit"));
    });
    group.bench_function("compression without the encoder", |b| {
        let compress = |response| compression.negotiate(black_box(&request)).apply(response);
        b.iter_batched(response, compress, BatchSize::SmallInput);
    });
    group.finish();
}

/// A request through all parts of the pipeline.
fn pipeline(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("conventions/pipeline");
    for (name, mut stack) in stacks::stacks() {
        group.bench_function(name, |b| {
            b.iter_batched(stacks::request, &mut stack, BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = benches::criterion();
    problem(&mut criterion);
    if_none_match(&mut criterion);
    accept(&mut criterion);
    accept_language(&mut criterion);
    cursor(&mut criterion);
    idempotency(&mut criterion);
    gcra(&mut criterion);
    keyed(&mut criterion);
    limiter(&mut criterion);
    stages(&mut criterion);
    pipeline(&mut criterion);
    criterion.final_summary();
}
