//! The pages of the guide. Their code blocks are the documentation tests of this package.

#[doc = include_str!("../framework-actix.md")]
mod framework_actix {}

#[doc = include_str!("../framework-axum.md")]
mod framework_axum {}

#[doc = include_str!("../framework-hyper.md")]
mod framework_hyper {}

#[doc = include_str!("../framework-none.md")]
mod framework_none {}

#[doc = include_str!("../operate.md")]
mod operate {}

#[doc = include_str!("../start-authorization-server.md")]
mod start_authorization_server {}

#[doc = include_str!("../start-graphql.md")]
mod start_graphql {}

#[doc = include_str!("../start-guard-api.md")]
mod start_guard_api {}

#[doc = include_str!("../start-idempotent-post.md")]
mod start_idempotent_post {}

#[doc = include_str!("../start-receive-stripe.md")]
mod start_receive_stripe {}

#[doc = include_str!("../start-send-webhooks.md")]
mod start_send_webhooks {}

#[doc = include_str!("../store-memory.md")]
mod store_memory {}

#[doc = include_str!("../store-own.md")]
mod store_own {}

#[doc = include_str!("../store-postgres.md")]
mod store_postgres {}

#[doc = include_str!("../store-redis.md")]
mod store_redis {}

#[doc = include_str!("../store-sqlite.md")]
mod store_sqlite {}
