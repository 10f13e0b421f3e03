//! A ticket shop: payments and members arrive as webhooks, paid orders are sent as webhooks.

mod hooks;
mod send;
mod shop;

use std::{env, error::Error, sync::Arc};

use axum::Router;
use axum::routing::{get, post};
use tokio::net::TcpListener;

use crate::hooks::Verifiers;
use crate::send::Sender;
use crate::shop::Shop;

/// State of all routes.
struct App {
    shop: Shop,
    sender: Sender,
    verifiers: Verifiers,
}

fn app() -> Result<App, Box<dyn Error>> {
    Ok(App {
        shop: Shop::default(),
        sender: Sender::default(),
        verifiers: Verifiers::new(&env::var("PAYMENTS_SECRET")?, &env::var("MEMBERS_SECRET")?)?,
    })
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/orders/{id}", get(shop::order).put(shop::place))
        .route("/members", get(shop::members))
        .route("/subscribers", post(send::subscribe))
        .route("/subscribers/{id}/rotate", post(send::rotate))
        .route("/hooks/payments", post(hooks::payments))
        .route("/hooks/members", post(hooks::members))
        .with_state(app)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let router = router(Arc::new(app()?));
    let listener = TcpListener::bind(env::var("LISTEN")?).await?;
    println!("listening on {}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
