//! A ticket shop: payments and members arrive as webhooks, paid orders are sent as webhooks.

mod hooks;
mod send;
mod shop;

use std::{env, error::Error, sync::Arc};

use axum::Router;
use axum::middleware::map_response;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use webhook_core::receiver::providers::{STANDARD_WEBHOOKS, SVIX};

use crate::hooks::Hook;
use crate::send::Sender;
use crate::shop::Shop;

/// State of all routes.
#[derive(Default)]
struct App {
    shop: Shop,
    sender: Sender,
}

fn router(app: Arc<App>) -> Result<Router, Box<dyn Error>> {
    let payments = Hook::new(Arc::clone(&app), STANDARD_WEBHOOKS, &env::var("PAYMENTS_SECRET")?)?;
    let members = Hook::new(Arc::clone(&app), SVIX, &env::var("MEMBERS_SECRET")?)?;
    let payments = Router::new()
        .route("/hooks/payments", post(hooks::payments))
        .with_state(payments);
    let members = Router::new()
        .route("/hooks/members", post(hooks::members))
        .with_state(members);
    Ok(Router::new()
        .route("/orders/{id}", get(shop::order).put(shop::place))
        .route("/members", get(shop::members))
        .route("/subscribers", post(send::subscribe))
        .route("/subscribers/{id}/rotate", post(send::rotate))
        .merge(payments)
        .merge(members)
        .layer(map_response(hooks::log_refusal))
        .with_state(app))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let router = router(Arc::default())?;
    let listener = TcpListener::bind(env::var("LISTEN")?).await?;
    println!("listening on {}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
