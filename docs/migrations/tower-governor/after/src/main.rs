//! An API of share prices with limits by address, for partners also by key.

mod api;
mod limits;
mod partners;

use std::net::SocketAddr;
use std::{env, error::Error, sync::Arc};

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::net::TcpListener;

use crate::limits::Limits;
use crate::partners::Partners;

fn router(partners: Arc<Partners>) -> Result<Router, Box<dyn Error>> {
    let limits = Limits::new(Arc::clone(&partners), &env::var("PROXY")?)?;
    let for_partners = Router::new()
        .route("/partners/prices/{symbol}", get(api::partner_price))
        .layer(from_fn_with_state(Arc::clone(&limits), limits::by_partner))
        .with_state(partners);
    let for_everyone = Router::new()
        .route("/prices/{symbol}", get(api::price))
        .layer(from_fn_with_state(Arc::clone(&limits), limits::by_address));
    let orders = Router::new()
        .route("/orders", get(api::orders).post(api::order))
        .layer(from_fn_with_state(Arc::clone(&limits), limits::of_orders));
    let login = Router::new()
        .route("/login", post(api::login))
        .layer(from_fn_with_state(limits, limits::of_logins));
    Ok(Router::new()
        .route("/health", get(async || "fine"))
        .merge(for_everyone)
        .merge(for_partners)
        .merge(orders)
        .merge(login))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let partners = Partners::parse(&env::var("PARTNERS")?);
    let router = router(Arc::new(partners))?.into_make_service_with_connect_info::<SocketAddr>();
    let listener = TcpListener::bind(env::var("LISTEN")?).await?;
    println!("listening on {}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
