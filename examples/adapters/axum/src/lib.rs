//! http-conventions in an axum 0.8 service: middleware and extractors.
//!
//! - [`ConventionsLayer`] is a tower layer that applies the conventions to every response.
//! - [`IdempotencyLayer`] is a tower layer that runs existing handlers once for each
//!   `Idempotency-Key`.
//! - [`Admission`], [`Paged`], [`Whole`] and, with feature `oauth`, `Caller` are extractors whose
//!   rejections are problems (RFC 9457). With feature `webhooks`, `Webhook` is the extractor of a
//!   verified event, and `WebhookLayer` passes verified events to existing handlers.
//! - `AccessTokenLayer`, with feature `oauth`, is a tower layer that requires an access token. It
//!   works without the conventions, in any axum service.
//! - `respond_graphql`, with feature `graphql`, answers a route of GraphQL: documents, streams of
//!   events and WebSockets.
//! - [`serve`] runs one framework-free handler, and limits request headers, bodies and the time of
//!   the shutdown. [`serve_router`] runs a router, and limits request headers and the shutdown.
//!
//! A router that receives webhooks, guards a route with access tokens, and runs a POST once for
//! each `Idempotency-Key`:
//!
//! ```
//! use host_adapter_axum::{Admission, Caller, ConventionsLayer, Paged, Refusal, Whole};
//! use axum::extract::{FromRef, State};
//! use axum::routing::{any, get};
//! use axum::{Json, Router, body::Body, response::Response};
//! use http_conventions::routing::{respond_created, Location};
//! use http_conventions::{errors::Problem, idempotency::KeyScope, pipeline::Conventions};
//! use oauth_core::{resource::ResourceServer, vocabulary::Scope as TokenScope};
//! use serde_json::{Value, json};
//! use webhook_core::receiver::Receiver;
//!
//! #[derive(Clone)]
//! struct Desk {
//!     read_charges: TokenScope,
//!     receiver: Receiver,
//!     resources: ResourceServer,
//! }
//!
//! impl FromRef<Desk> for ResourceServer {
//!     fn from_ref(desk: &Desk) -> Self {
//!         desk.resources.clone()
//!     }
//! }
//!
//! /// Passes the whole request to an endpoint of webhook-core.
//! async fn webhook(State(desk): State<Desk>, Whole(request): Whole) -> Response {
//!     desk.receiver.receive(request).await.map(Body::from)
//! }
//!
//! async fn list(
//!     State(desk): State<Desk>,
//!     Caller(ada): Caller,
//!     Paged(page): Paged,
//! ) -> Result<Json<Value>, Refusal> {
//!     ada.require(&desk.read_charges)?;
//!     Ok(Json(json!({ "data": [], "has_more": false, "limit": page.limit.get() })))
//! }
//!
//! /// Runs once for each `Idempotency-Key`.
//! async fn create(
//!     Caller(ada): Caller,
//!     Admission(exchange): Admission,
//!     Whole(request): Whole,
//! ) -> Response {
//!     let scope = KeyScope::new(ada.subject().as_str(), "/v1/charges");
//!     let charge = async {
//!         let location = Location::of_path(["v1", "charges", "ch_1"])?;
//!         Ok::<_, Problem>(respond_created(&location, http::Response::new("{}".into())))
//!     };
//!     exchange.skip_rate_limit().run(&request, scope, charge).await.map(Body::from)
//! }
//!
//! fn router(desk: Desk, conventions: Conventions) -> Router {
//!     Router::new()
//!         .route("/health", get(async || "fine"))
//!         .route("/webhooks", any(webhook))
//!         .route("/v1/charges", get(list).post(create))
//!         // last, so that it wraps all routes
//!         .layer(ConventionsLayer::new(conventions))
//!         .with_state(desk)
//! }
//! # use std::{error::Error, sync::Arc, time::{Duration, SystemTime, UNIX_EPOCH}};
//! # use http::Request;
//! # use http_conventions::{
//! #     errors::ProblemBase,
//! #     idempotency::{Idempotency, MemoryIdempotencyStore},
//! #     ports::OsEntropy,
//! # };
//! # use oauth_core::jose::{AccessTokenClaims, KeySet, SigningKey};
//! # use oauth_core::vocabulary::AccessTokenTerms;
//! # use tower_service::Service;
//! # use webhook_core::{memory::MemoryInbox, receiver::Verifier, secret::SigningSecret};
//! # fn now() -> SystemTime { UNIX_EPOCH + Duration::from_secs(1_700_000_120) }
//! # use host_ports::testing::ManualClock;
//! # fn clock() -> ManualClock { ManualClock::new(now()) }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn Error>> {
//! # let key = SigningKey::generate_es256(&oauth_core::ports::OsEntropy)?;
//! # let token = AccessTokenClaims {
//! #     terms: AccessTokenTerms {
//! #         subject: "ada".parse()?,
//! #         audience: vec!["https://api.example".parse()?],
//! #         client_id: "demo-web".parse()?,
//! #         scopes: "read:charges".parse()?,
//! #         issued_at: now(),
//! #         expires_at: now() + Duration::from_secs(600),
//! #         confirmation: None,
//! #     },
//! #     issuer: "https://as.example".parse()?,
//! #     jti: "1".to_owned(),
//! #     auth_time: None,
//! # }.sign(&key)?;
//! # let bearer = format!("Bearer {}", token.expose());
//! # let secret = SigningSecret::from_whsec("whsec_Tzuc4RkLS09XuInUQYOD961sTKHBtWuXC/jM6hCEqG8=")?;
//! # let inbox = Arc::new(MemoryInbox::default());
//! # let desk = Desk {
//! #     read_charges: "read:charges".parse()?,
//! #     receiver: Receiver::builder("sender", Verifier::standard_webhooks(secret), inbox, clock())
//! #         .build()?,
//! #     resources: ResourceServer::new(
//! #         "https://as.example".parse()?,
//! #         "https://api.example".parse()?,
//! #         KeySet::new([key.public_key().clone()])?,
//! #     ),
//! # };
//! # let base = "https://api.example/problems/";
//! # let store = Arc::new(MemoryIdempotencyStore::default());
//! # let problems = ProblemBase::new(base)?;
//! # let idempotency = Idempotency::new(store, Arc::new(clock()), &OsEntropy, problems);
//! # let conventions = Conventions::builder(base, Arc::new(clock()), Arc::new(OsEntropy))
//! #     .with_idempotency(idempotency)
//! #     .build()?;
//! let mut service = router(desk, conventions);
//!
//! let unauthenticated = service.call(Request::get("/v1/charges").body(Body::empty())?).await?;
//! assert_eq!(unauthenticated.status(), 401);
//! assert_eq!(unauthenticated.headers()["content-type"], "application/problem+json");
//! let challenge = &unauthenticated.headers()["www-authenticate"];
//! assert_eq!(challenge, r#"Bearer realm="https://api.example""#);
//!
//! let post = || {
//!     Request::post("/v1/charges")
//!         .header("authorization", &bearer)
//!         .header("idempotency-key", "\"7\"")
//!         .body(Body::empty())
//! };
//! assert_eq!(service.call(post()?).await?.status(), 201);
//! assert_eq!(service.call(post()?).await?.headers()["idempotency-replayed"], "true");
//!
//! let nowhere = service.call(Request::get("/nowhere").body(Body::empty())?).await?;
//! assert_eq!(nowhere.status(), 404);
//! assert!(nowhere.headers().contains_key("x-request-id"));
//! # let page = |query: &str| {
//! #     Request::get(format!("/v1/charges?{query}"))
//! #         .header("authorization", &bearer)
//! #         .body(Body::empty())
//! # };
//! # assert_eq!(service.call(page("limit=5")?).await?.status(), 200);
//! # assert_eq!(service.call(page("limit=500")?).await?.status(), 400);
//! # let event = || Request::post("/webhooks")
//! #     .header("webhook-id", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W")
//! #     .header("webhook-timestamp", "1700000000")
//! #     .header("webhook-signature", "v1,n/GgCCORmDM7VTp392JUPn+0U6YYXrEJ2A/mPDo7KY4=");
//! # let body = r#"{"type":"invoice.paid","data":{"object":{"id":"in_1","amount":1200}}}"#;
//! # assert_eq!(service.call(event().body(Body::from(body))?).await?.status(), 204);
//! # assert_eq!(service.call(event().body(Body::from("forged"))?).await?.status(), 400);
//! # Ok(())
//! # }
//! ```
//!
//! [`serve_router`] or `axum::serve` serves the router. `axum::serve` limits neither the time for
//! request headers nor the time of the shutdown. The layer depends on tower alone and wraps any
//! other service too. Feature `tls` adds `serve_tls` and `serve_router_tls`; feature `websocket`
//! adds WebSockets to all of them.
#[cfg(feature = "oauth")]
mod access_token;
#[cfg(feature = "oauth")]
mod caller;
mod content;
mod extract;
#[cfg(feature = "graphql")]
mod graphql;
mod idempotency;
mod layer;
mod nonce;
mod refusal;
mod serve;
mod target;
#[cfg(feature = "websocket")]
mod upgrade;
#[cfg(feature = "webhooks")]
mod webhook;
#[cfg(feature = "webhooks")]
mod webhook_layer;

#[cfg(feature = "oauth")]
pub use access_token::{AccessTokenLayer, WithAccessToken};
#[cfg(feature = "oauth")]
pub use caller::Caller;
pub use extract::{Admission, Paged, Whole};
#[cfg(feature = "graphql")]
pub use graphql::respond_graphql;
#[cfg(feature = "websocket")]
pub use host_websocket as websocket;
pub use idempotency::{IdempotencyLayer, WithIdempotency};
pub use layer::{ConventionsLayer, WithConventions};
pub use refusal::{Reason, Refusal};
pub use serve::{Limits, OpenConnections, check_head, serve, serve_router};
#[cfg(feature = "tls")]
pub use serve::{serve_router_tls, serve_tls};
#[cfg(feature = "webhooks")]
pub use webhook::Webhook;
#[cfg(feature = "webhooks")]
pub use webhook_layer::{WebhookLayer, WithWebhook};

/// The code block of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
