//! A service that uses the whole pipeline, shared by the tests of this folder.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{HeaderName, Method, Request, Response, StatusCode, header};
use http_conventions::{
    caching::{CacheControl, EntityTag, Preconditions, Validators},
    cors::CorsRules,
    errors::{Challenge, ErrorStatus, Problem, ProblemBase, ReceivedProblem},
    idempotency::{Idempotency, KeyScope, MemoryIdempotencyStore},
    limits::{MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter},
    pipeline::{Admitted, Conventions, ConventionsBuilder, EarlyResponse, Exchange},
    ports::Clock as _,
    routing::{Location, respond_created},
    versions::{Lifecycle, VersionScheme},
};

pub(crate) const BASE: &str = "https://api.example.com/problems/";
pub(crate) const APP: &str = "https://app.example.com";
/// Request field whose value the host copies to every response.
pub(crate) const SAID: HeaderName = HeaderName::from_static("x-said");
/// Requests per hour of a user.
pub(crate) const QUOTA: u32 = 50;

type Handled = Result<Response<Bytes>, Problem>;

/// One charge that can be changed, and charges that can be created.
pub(crate) struct Desk {
    pub(crate) conventions: Conventions,
    policy: Policy,
    pub(crate) clock: ManualClock,
    state: AtomicU32,
    pub(crate) runs: AtomicU32,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::configured(|builder| builder)
    }

    pub(crate) fn configured(configure: impl FnOnce(ConventionsBuilder) -> ConventionsBuilder) -> Self {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let shared = || Arc::new(clock.clone());
        let entropy = SeededEntropy::new(7);
        let base = ProblemBase::new(BASE).unwrap();
        let idempotency = Idempotency::new(
            Arc::new(MemoryIdempotencyStore::default()),
            shared(),
            &entropy,
            base,
        );
        let limits = Arc::new(MemoryRateLimitStore::default());
        let sunset = clock.now() + Duration::from_secs(86_400);
        let old = Lifecycle::deprecated(clock.now()).with_sunset(sunset).unwrap();
        let builder = Conventions::builder(BASE, shared(), Arc::new(SeededEntropy::new(8)))
            .with_cors(CorsRules::origins([APP]).with_credentials())
            .with_versions(
                VersionScheme::Path,
                [
                    ("1".parse().unwrap(), old),
                    ("2".parse().unwrap(), Lifecycle::default()),
                ],
            )
            .with_challenge(Challenge::bearer())
            .with_rate_limiter(RateLimiter::new(limits, shared(), OnStoreFailure::FailClosed))
            .with_idempotency(idempotency);
        let quota = Quota::per(QUOTA, Duration::from_secs(3600)).unwrap();
        Self {
            conventions: configure(builder).build().unwrap(),
            policy: Policy::new("user", quota).unwrap(),
            clock,
            state: AtomicU32::new(1),
            runs: AtomicU32::new(0),
        }
    }

    /// One exchange, as a host implements it.
    pub(crate) async fn send(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.answer(request)
            .await
            .unwrap_or_else(EarlyResponse::into_response)
    }

    async fn answer(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, EarlyResponse> {
        let mut exchange = self.conventions.begin(request).admit(request)?;
        if let Some(said) = request.headers().get(SAID) {
            exchange.set_header(SAID, said.clone());
            exchange.set_header(header::CACHE_CONTROL, CacheControl::no_store().header_value());
        }
        let user = exchange.check(authenticate(request))?;
        let route = exchange.check(route(&exchange, request))?;
        let exchange = exchange.limit(&[self.policy.spend(user)]).await?;
        let preconditions = exchange.preconditions(request);
        let handler = async { self.handle(request.method(), preconditions) };
        Ok(exchange.run(request, KeyScope::new(user, route), handler).await)
    }

    fn handle(&self, method: &Method, preconditions: Preconditions<'_>) -> Handled {
        let base = self.conventions.problems();
        let state = self.state.load(SeqCst);
        let current = |state: u32| {
            let tag = EntityTag::strong(&state.to_string()).unwrap();
            Validators::default().with_entity_tag(tag)
        };
        match *method {
            Method::GET => preconditions.answer_read(&current(state), json("{}"), base),
            Method::PATCH => {
                preconditions
                    .with_required()
                    .check_write(Some(&current(state)), base)?;
                let state = self.state.fetch_add(1, SeqCst) + 1;
                let mut answer = json("{}");
                current(state).apply(answer.headers_mut());
                Ok(answer)
            }
            Method::PUT => Err(Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT)),
            _ => {
                let number = self.runs.fetch_add(1, SeqCst) + 1;
                let location = Location::of_path(["v1", "charges", &number.to_string()])?;
                Ok(respond_created(&location, json(&format!("{{\"id\":{number}}}"))))
            }
        }
    }

    /// Remaining requests of the user in this hour.
    pub(crate) async fn left(&self) -> u32 {
        let answer = self.send(&request("GET", "/v1/charges", &[])).await;
        let field = answer.headers()["ratelimit"].to_str().unwrap().to_owned();
        let (_, left) = field.split_once(";r=").unwrap();
        left.split_once(';').unwrap().0.parse::<u32>().unwrap() + 1
    }
}

fn authenticate(request: &Request<Bytes>) -> Result<&'static str, Problem> {
    let sent = request.headers().get(header::AUTHORIZATION);
    match sent.and_then(|value| value.to_str().ok()) {
        Some("Bearer 7") => Ok("user-7"),
        Some("Bearer weak") => Err(Problem::challenged(StatusCode::FORBIDDEN, Challenge::bearer())),
        _ => Err(Problem::unauthorized(Challenge::bearer())),
    }
}

fn route(exchange: &Exchange<Admitted>, request: &Request<Bytes>) -> Result<&'static str, Problem> {
    match exchange.path() {
        "/charges" if *request.method() == Method::DELETE => {
            Err(Problem::method_not_allowed(&[Method::GET, Method::POST]))
        }
        "/charges" => Ok("/v1/charges"),
        _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
    }
}

pub(crate) fn json(text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// A request of user 7 from the app; a field without a value is removed.
pub(crate) fn request(method: &str, target: &str, fields: &[(&str, &str)]) -> Request<Bytes> {
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = method.parse().unwrap();
    *request.uri_mut() = target.parse().unwrap();
    let usual = [("authorization", "Bearer 7"), ("origin", APP)];
    for (name, value) in usual.iter().chain(fields) {
        let name: HeaderName = name.parse().unwrap();
        match value.is_empty() {
            true => request.headers_mut().remove(name),
            false => request.headers_mut().insert(name, value.parse().unwrap()),
        };
    }
    request
}

/// The preflight of such a request.
pub(crate) fn preflight(target: &str) -> Request<Bytes> {
    let asks = ("access-control-request-method", "PATCH");
    request("OPTIONS", target, &[("authorization", ""), asks])
}

/// Asserts the fields of every response; `path` is that of the request.
pub(crate) fn assert_complete(answer: &Response<Bytes>, path: &str) {
    let headers = answer.headers();
    let field = |name: &str| {
        assert!(
            headers.contains_key(name),
            "{} without {name}: {headers:?}",
            answer.status()
        );
        &headers[name]
    };
    assert!((8..=128).contains(&field("x-request-id").len()));
    assert_eq!(field("access-control-allow-origin"), APP);
    assert_eq!(field("access-control-allow-credentials"), "true");
    assert!(
        field("vary")
            .to_str()
            .unwrap()
            .split(", ")
            .any(|name| name == "origin")
    );
    assert!(headers.contains_key("cache-control"));
    if answer.status().as_u16() < 400 {
        return;
    }
    assert!(
        field("access-control-expose-headers")
            .to_str()
            .unwrap()
            .contains("x-request-id")
    );
    assert_eq!(field("content-type"), "application/problem+json");
    let problem = ReceivedProblem::parse(answer.body()).unwrap();
    assert_eq!(problem.status(), Some(answer.status().as_u16()));
    assert_eq!(problem.instance(), Some(path));
    let named = problem.extension("request_id").and_then(|id| id.as_str());
    assert_eq!(named, field("x-request-id").to_str().ok());
}

/// Asserts the fields of a response after the version was resolved.
pub(crate) fn assert_deprecated(answer: &Response<Bytes>) {
    assert_eq!(answer.headers()["deprecation"], "@1800000000");
    assert!(answer.headers().contains_key("sunset"));
}
