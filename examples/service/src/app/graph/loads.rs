//! Batch loaders: the rows that several fields of one operation need are read at once.

use std::collections::HashMap;

use graph_core::GraphError;
use graph_core::loader::Batch;

use super::schema::refused;
use crate::desk::Desk;
use crate::domain::{Customer, CustomerId};

/// Loads customers by identifier.
pub(super) struct Customers(pub(super) Desk);

impl Batch for Customers {
    type Key = CustomerId;
    type Value = Customer;

    async fn load(&self, ids: Vec<CustomerId>) -> Result<HashMap<CustomerId, Customer>, GraphError> {
        let found = self.0.customers_by_id(ids).await.map_err(refused)?;
        Ok(found
            .into_iter()
            .map(|customer| (customer.id.clone(), customer))
            .collect())
    }
}
