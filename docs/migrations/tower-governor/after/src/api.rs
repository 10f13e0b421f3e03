//! The handlers. They know nothing of the limits.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::partners::{KEY, Partners};

pub(crate) async fn price(Path(symbol): Path<String>) -> Json<Value> {
    Json(json!({ "symbol": symbol, "price": 100 + symbol.len() }))
}

/// A price without delay, for partners.
pub(crate) async fn partner_price(
    State(partners): State<Arc<Partners>>,
    Path(symbol): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, StatusCode> {
    let key = headers.get(KEY).and_then(|key| key.to_str().ok());
    let partner = key
        .and_then(|key| partners.name_of(key))
        .ok_or(StatusCode::UNAUTHORIZED)?;
    Ok(Json(
        json!({ "symbol": symbol, "price": 101 + symbol.len(), "for": partner }),
    ))
}

pub(crate) async fn orders() -> Json<Value> {
    Json(json!([]))
}

pub(crate) async fn order() -> StatusCode {
    StatusCode::CREATED
}

/// All passwords are wrong.
pub(crate) async fn login() -> StatusCode {
    StatusCode::UNAUTHORIZED
}
