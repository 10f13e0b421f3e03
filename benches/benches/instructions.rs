//! Hot paths, repeated, for a profiler that counts instructions. The cost of one is the count of
//! `repeat`, divided by the times:
//!
//! `valgrind --tool=callgrind --toggle-collect=instructions::repeat BINARY --bench CASE TIMES`
//!
//! Arguments: `CASE TIMES`, for example `"verify 1 KiB" 2000`; without arguments it prints the
//! cases.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench ends where something is not as it was set up, and prints its cases"
)]

#[path = "instructions/issuer.rs"]
mod issuer;
#[path = "oauth/keys.rs"]
#[expect(dead_code, reason = "the other half is for the peers of `oauth`")]
mod keys;
#[path = "instructions/profiles.rs"]
mod profiles;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};
use http_conventions::caching::{EntityTag, Preconditions, Validators};
use http_conventions::content::{Accept, AcceptLanguage, LanguageTag, MediaType, Offers};
use http_conventions::errors::{ErrorStatus, Problem, ProblemBase};
use http_conventions::idempotency::{Idempotency, KeyScope, MemoryIdempotencyStore};
use http_conventions::limits::{MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter};
use http_conventions::paging::{CursorBinding, CursorKey, CursorKeyring, Direction, PositionValue};
use http_conventions::ports::{Clock, OsEntropy};
use oauth_core::jose::{KeySet, SigningKey};
use oauth_core::resource::ResourceServer;
use webhook_core::event::EventId;
use webhook_core::receiver::Verifier;
use webhook_core::secret::SigningSecret;
use webhook_core::signature::{Signer, Signers};

type Case = (&'static str, Box<dyn FnMut()>);

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (Some(name), Some(times)) = (words.next(), words.next()) else {
        cases().iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let times: usize = times.parse().expect("a number of times");
    let mut cases = cases();
    let (_, run) = cases
        .iter_mut()
        .find(|(known, _)| *known == name)
        .expect("a case");
    repeat(run, times);
}

/// Runs a case. A function of its own, so that a profiler counts nothing else.
#[inline(never)]
fn repeat(run: &mut dyn FnMut(), times: usize) {
    for _ in 0..times {
        run();
    }
}

fn cases() -> Vec<Case> {
    let mut cases = webhooks();
    cases.extend(conventions());
    cases.extend(stores());
    cases.extend(tokens());
    cases.extend(profiles::cases());
    cases.extend(issuer::cases());
    cases
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// A clock without cost.
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> SystemTime {
        now()
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

fn webhooks() -> Vec<Case> {
    let secret = || SigningSecret::from_bytes(&[7; 32]).expect("a secret");
    let id: EventId = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W".parse().expect("an id");
    let body = Bytes::from(vec![b'x'; 1024]);
    let signers = Signers::from(Signer::standard_webhooks(&secret()));
    let mut headers = HeaderMap::new();
    signers.sign(&id, now(), &body).insert_into(&mut headers);
    let verifier = Verifier::standard_webhooks(secret());
    let signed = body.clone();
    vec![
        (
            "verify 1 KiB",
            Box::new(move || {
                let verified = verifier.verify(black_box(&headers), body.clone(), now());
                assert!(verified.is_ok());
            }),
        ),
        (
            "sign 1 KiB",
            Box::new(move || {
                black_box(signers.sign(&id, now(), black_box(&signed)));
            }),
        ),
    ]
}

fn conventions() -> Vec<Case> {
    const BROWSER: &str =
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
    let of = |name, value| {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        headers
    };
    let accept = |line| -> Box<dyn FnMut()> {
        let offers = Offers::<MediaType>::parse("application/json", &["text/html"]).expect("media types");
        let headers = of(header::ACCEPT, line);
        Box::new(move || assert!(Accept::of(black_box(&headers)).choose(&offers).is_some()))
    };
    let languages = Offers::<LanguageTag>::parse("en", &["de", "fr"]).expect("languages");
    let wanted = of(header::ACCEPT_LANGUAGE, "de-CH, de;q=0.9, en;q=0.8, fr;q=0.7");
    let tags = of(header::IF_NONE_MATCH, r#""5f8a1c", W/"77d3e0", "c3piozzzz""#);
    let current = Validators::default().with_entity_tag(EntityTag::strong("c3piozzzz").expect("a tag"));
    let keyring = CursorKeyring::new(CursorKey::new(1, [7; 32]));
    vec![
        ("Accept of a program", accept("application/json")),
        ("Accept of a browser", accept(BROWSER)),
        (
            "Accept-Language",
            Box::new(move || {
                black_box(AcceptLanguage::of(black_box(&wanted)).choose(&languages));
            }),
        ),
        (
            "If-None-Match",
            Box::new(move || {
                black_box(Preconditions::new(&Method::GET, black_box(&tags), now()).evaluate(Some(&current)));
            }),
        ),
        (
            "cursor: bind, seal and open",
            Box::new(move || {
                let binding = CursorBinding::new(black_box("/v1/charges"), "user-7").with_sort("created,id");
                let position = [PositionValue::from(1_800_000_000), PositionValue::from("ch_1")];
                let sealed = keyring
                    .seal(&position, Direction::Forward, &binding, now())
                    .expect("it fits");
                black_box(keyring.open(&sealed, &binding, now()).expect("valid"));
            }),
        ),
        (
            "problem",
            Box::new(|| {
                let problem = Problem::new(ErrorStatus::NOT_FOUND).with_detail(black_box("no such charge"));
                black_box(problem.into_response());
            }),
        ),
    ]
}

fn stores() -> Vec<Case> {
    let problems = ProblemBase::new("https://api.example.com/problems/").expect("a base");
    let store = Arc::new(MemoryIdempotencyStore::default());
    let idempotency = Idempotency::new(store, Arc::new(Stopped), &OsEntropy, problems);
    let request = Request::post("/v1/charges")
        .header("idempotency-key", "key-00000000000000000001")
        .body(Bytes::from_static(br#"{"amount":1000}"#))
        .expect("a request");
    let quota = Quota::per(1_000_000_000, Duration::from_secs(1)).expect("a quota");
    let policy = |name| Policy::new(name, quota).expect("a name");
    let (user, address) = (policy("user"), policy("address"));
    let store = Arc::new(MemoryRateLimitStore::default());
    let limiter = RateLimiter::new(store, Arc::new(Stopped), OnStoreFailure::FailClosed);
    vec![
        (
            "idempotency: replay",
            Box::new(move || {
                let handler = async { Response::new(Bytes::from_static(br#"{"id":"ch_1"}"#)) };
                let scope = KeyScope::new("user-7", "/v1/charges");
                let answered = idempotency
                    .run(black_box(&request), scope, handler)
                    .now_or_never();
                black_box(answered.expect("at once").expect("a response"));
            }),
        ),
        (
            "limiter: two policies",
            Box::new(move || {
                let spends = [address.spend("203.0.113.7"), user.spend("user-7")];
                let checked = limiter.check(black_box(&spends)).now_or_never();
                let mut headers = HeaderMap::new();
                let standings = checked.expect("at once").expect("it passes");
                standings.apply(&mut headers);
                black_box(headers);
            }),
        ),
    ]
}

fn tokens() -> Vec<Case> {
    let keys = keys::Keys::new(SigningKey::generate_es256(&OsEntropy).expect("a key"));
    let guard = || {
        ResourceServer::new(
            keys::ISSUER.parse().expect("an issuer"),
            keys::AUDIENCE.parse().expect("an audience"),
            KeySet::new([keys.public.clone()]).expect("a set"),
        )
    };
    let mut token = keys.token(now());
    let request = |token: &str| {
        let request = Request::get("/v1/charges").header("authorization", format!("Bearer {token}"));
        request.body(()).expect("a request").into_parts().0
    };
    let remembering = guard();
    let known = request(&token);
    let cold = guard().with_cache(0);
    token.truncate(token.len() - 6);
    let short = request(&token);
    vec![
        (
            "guard: token seen again",
            Box::new(move || {
                let caller = remembering.authenticate(black_box(&known), now()).now_or_never();
                assert!(caller.expect("at once").is_ok());
            }),
        ),
        (
            "guard: without the signature",
            Box::new(move || {
                let caller = cold.authenticate(black_box(&short), now()).now_or_never();
                assert!(caller.expect("at once").is_err());
            }),
        ),
    ]
}
