//! A router of an ordinary service, with conventions applied.

use oauth_core::vocabulary::AccessTokenTerms;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRef, Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::stream;
use host_adapter_axum::{Admission, Caller, ConventionsLayer, Paged, Refusal, Whole};
use host_ports::testing::{ManualClock, SeededEntropy};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use http_conventions::cors::CorsRules;
use http_conventions::errors::{ErrorStatus, Problem, ProblemBase};
use http_conventions::idempotency::{Idempotency, KeyScope, MemoryIdempotencyStore};
use http_conventions::limits::{MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter};
use http_conventions::paging::PageRules;
use http_conventions::pipeline::Conventions;
use http_conventions::ports::Clock as _;
use http_conventions::versions::Lifecycle;
use http_conventions::versions::VersionScheme;
use oauth_core::dpop::NonceKey;
use oauth_core::jose::{AccessTokenClaims, KeySet, SigningKey};
use oauth_core::memory::MemoryReplays;
use oauth_core::ports::OsEntropy;
use oauth_core::resource::ResourceServer;
use oauth_core::vocabulary::{Claims, Confirmation};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tower_service::Service;

pub(super) const BASE: &str = "https://api.example/problems/";
pub(super) const APP: &str = "https://app.example";
/// Size limit of content in bytes.
pub(super) const CAP: usize = 1000;

/// State of the handlers.
#[derive(Clone)]
pub(super) struct Desk {
    resources: ResourceServer,
    policy: Arc<Policy>,
    pub(super) runs: Arc<AtomicU32>,
    pub(super) gate: Arc<Notify>,
    pub(super) entered: mpsc::Sender<()>,
}

impl FromRef<Desk> for ResourceServer {
    fn from_ref(desk: &Desk) -> Self {
        desk.resources.clone()
    }
}

/// A service and its test values.
pub(super) struct Running {
    pub(super) router: Router,
    pub(super) desk: Desk,
    pub(super) clock: ManualClock,
    pub(super) has_entered: mpsc::Receiver<()>,
    key: SigningKey,
}

pub(super) fn conventions(clock: &ManualClock) -> Conventions {
    let shared = || Arc::new(clock.clone());
    let entropy = SeededEntropy::new(7);
    let store = Arc::new(MemoryIdempotencyStore::default());
    let idempotency = Idempotency::new(store, shared(), &entropy, ProblemBase::new(BASE).unwrap());
    let limits = Arc::new(MemoryRateLimitStore::default());
    let old = Lifecycle::deprecated(clock.now()).with_successor("/v2".parse().unwrap());
    Conventions::builder(BASE, shared(), Arc::new(SeededEntropy::new(8)))
        .with_cors(CorsRules::origins([APP]))
        .with_size_limits(
            http_conventions::content::SizeLimits::default().with_content(CAP as u64, CAP as u64),
        )
        .with_versions(
            VersionScheme::Header("x-version".parse().unwrap()),
            [("1".parse().unwrap(), old)],
        )
        .with_default_version("1".parse().unwrap())
        .with_page_rules(PageRules::new(5, 50).unwrap())
        .with_rate_limiter(RateLimiter::new(limits, shared(), OnStoreFailure::FailClosed))
        .with_idempotency(idempotency)
        .build()
        .unwrap()
}

impl Running {
    pub(super) fn new() -> Self {
        let clock = ManualClock::new(std::time::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let key = SigningKey::generate_es256(&OsEntropy).unwrap();
        let keys = KeySet::new([key.public_key().clone()]).unwrap();
        let (entered, has_entered) = mpsc::channel(1);
        let desk = Desk {
            resources: ResourceServer::new(
                "https://as.example".parse().unwrap(),
                "https://api.example".parse().unwrap(),
                keys,
            ),
            policy: Arc::new(Policy::new("user", Quota::per(5, Duration::from_secs(3600)).unwrap()).unwrap()),
            runs: Arc::default(),
            gate: Arc::default(),
            entered,
        };
        let router = routes()
            .layer(ConventionsLayer::new(conventions(&clock)))
            .with_state(desk.clone());
        Self {
            router,
            desk,
            clock,
            has_entered,
            key,
        }
    }

    /// The resource server of the router.
    pub(super) fn resources(&self) -> ResourceServer {
        self.desk.resources.clone()
    }

    /// A resource server that accepts DPoP proofs.
    pub(super) fn resources_with_proofs(&self) -> ResourceServer {
        self.resources()
            .with_dpop("https://api.example".parse().unwrap(), MemoryReplays::new())
    }

    /// A resource server that requires its own nonce in each proof.
    pub(super) fn resources_with_nonces(&self) -> ResourceServer {
        self.resources_with_proofs()
            .with_dpop_nonces(&NonceKey::from_bytes([7; 32]))
    }

    pub(super) fn bearer(&self, scope: &str) -> String {
        format!("Bearer {}", self.token(scope, None))
    }

    /// A token for `ada` with this scope, valid for ten minutes.
    pub(super) fn token(&self, scope: &str, confirmation: Option<Confirmation>) -> String {
        self.token_with(scope, confirmation, &Claims::new())
    }

    /// A token with permissions, which the profile of Auth0 takes as roles.
    pub(super) fn token_with_permissions(&self, permissions: &[&str]) -> String {
        let claims = Claims::new().with("permissions", permissions.to_vec()).unwrap();
        self.token_with("read:charges", None, &claims)
    }

    fn token_with(&self, scope: &str, confirmation: Option<Confirmation>, claims: &Claims) -> String {
        let now = self.clock.now();
        let token = AccessTokenClaims {
            terms: AccessTokenTerms {
                subject: "ada".parse().unwrap(),
                audience: vec!["https://api.example".parse().unwrap()],
                client_id: "web".parse().unwrap(),
                scopes: scope.parse().unwrap(),
                issued_at: now,
                expires_at: now + Duration::from_secs(600),
                confirmation,
            },
            issuer: "https://as.example".parse().unwrap(),
            jti: "1".to_owned(),
            auth_time: None,
        };
        token.sign_with(claims, &self.key).unwrap().expose().to_owned()
    }

    pub(super) async fn ask(&self, request: Request<Body>) -> http::Response<Bytes> {
        whole(self.router.clone().call(request).await.unwrap()).await
    }
}

pub(super) async fn whole(answer: Response) -> http::Response<Bytes> {
    let (parts, body) = answer.into_parts();
    http::Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

/// A request with an `Origin` and these header fields.
pub(super) fn request(
    method: &str,
    path: &str,
    fields: &[(&str, &str)],
    body: impl Into<Body>,
) -> Request<Body> {
    let builder = Request::builder().method(method).uri(path).header("origin", APP);
    let builder = fields
        .iter()
        .fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(body.into()).unwrap()
}

pub(super) fn routes() -> Router<Desk> {
    Router::new()
        .route("/", get(async || "fine"))
        .route(
            "/numbers/{number}",
            get(async |Path(number): Path<u8>| number.to_string()),
        )
        .route("/json", post(async |Json(value): Json<Value>| Json(value)))
        .route("/bytes", post(async |bytes: Bytes| bytes))
        .route("/whole", post(async |Whole(request): Whole| request.into_body()))
        .route("/panic", get(broken).post(broken))
        .route("/plain", get(async || (StatusCode::CONFLICT, "no")))
        .route(
            "/problem",
            get(async || Refusal::from(Problem::new(ErrorStatus::CONFLICT))),
        )
        .route("/rendered", get(rendered))
        .route("/stream", get(streamed))
        .route("/page", get(async |Paged(page)| page.limit.get().to_string()))
        .route(
            "/maybe",
            get(async |caller: Option<Caller>| caller.is_some().to_string()),
        )
        .route("/charges", get(list).post(create))
        .route("/slow", get(slow).post(slow))
}

async fn broken() -> &'static str {
    panic!("the handler has a bug")
}

/// A problem of the host, with parameters and a `Content-Length`.
async fn rendered() -> Response {
    let problem = Response::builder()
        .status(409)
        .header("content-type", "Application/Problem+JSON ; charset=utf-8")
        .header("content-length", "14");
    problem.body(Body::from(r#"{"status":409}"#)).unwrap()
}

async fn streamed() -> Body {
    Body::from_stream(stream::iter(["one", "two"].map(Ok::<_, std::io::Error>)))
}

async fn list(Caller(ada): Caller) -> Result<&'static str, Refusal> {
    ada.require(&"read:charges".parse().unwrap())?;
    Ok("charges")
}

async fn create(
    State(desk): State<Desk>,
    Caller(ada): Caller,
    Admission(exchange): Admission,
    Whole(request): Whole,
) -> Result<Response, Refusal> {
    let user = ada.subject().as_str();
    let exchange = exchange.limit(&[desk.policy.spend(user)]).await?;
    let run = async {
        let number = desk.runs.fetch_add(1, SeqCst) + 1;
        http::Response::new(Bytes::from(format!("charge {number}")))
    };
    let answer = exchange.run(&request, KeyScope::new(user, "/charges"), run).await;
    Ok(answer.map(Body::from))
}

/// Waits for its gate, then counts.
async fn slow(State(desk): State<Desk>) -> String {
    desk.entered.send(()).await.unwrap();
    desk.gate.notified().await;
    (desk.runs.fetch_add(1, SeqCst) + 1).to_string()
}
