//! Orders and members. A service has them in its database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::App;

#[derive(Default)]
pub(crate) struct Shop {
    orders: Mutex<BTreeMap<String, Order>>,
    members: Mutex<BTreeMap<String, String>>,
}

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Order {
    price: u64,
    #[serde(default)]
    paid: u64,
}

impl Shop {
    /// Adds a payment; returns the order if it exists.
    pub(crate) fn pay(&self, id: &str, amount: u64) -> Option<Order> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let order = orders.get_mut(id)?;
        order.paid += amount;
        Some(order.clone())
    }

    pub(crate) fn set_member(&self, id: String, mail: Option<String>) {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        match mail {
            Some(mail) => members.insert(id, mail),
            None => members.remove(&id),
        };
    }
}

impl Order {
    pub(crate) fn is_paid(&self) -> bool {
        self.paid >= self.price
    }
}

pub(crate) async fn place(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Json(order): Json<Order>,
) -> StatusCode {
    let mut orders = app.shop.orders.lock().unwrap_or_else(PoisonError::into_inner);
    orders.insert(id, order);
    StatusCode::CREATED
}

pub(crate) async fn order(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Order>, StatusCode> {
    let orders = app.shop.orders.lock().unwrap_or_else(PoisonError::into_inner);
    orders.get(&id).cloned().map(Json).ok_or(StatusCode::NOT_FOUND)
}

pub(crate) async fn members(State(app): State<Arc<App>>) -> Json<BTreeMap<String, String>> {
    let members = app.shop.members.lock().unwrap_or_else(PoisonError::into_inner);
    Json(members.clone())
}
