//! Batch loaders: the rows that several fields of one operation need are read at once.

use std::collections::HashMap;

use graph_core::look_ahead::FieldSet;
use graph_core::{GraphError, SelectiveBatch};

use super::schema::{Customer, refused};
use crate::desk::{Desk, PartialCustomer};
use crate::domain::CustomerId;

/// Loads customers by identifier, with their names only if a resolver asks for them.
pub(super) struct Customers(pub(super) Desk);

impl SelectiveBatch for Customers {
    type Key = CustomerId;
    type Value = PartialCustomer;
    type Object = Customer;

    async fn load(
        &self,
        ids: Vec<CustomerId>,
        fields: FieldSet<Customer>,
    ) -> Result<HashMap<CustomerId, PartialCustomer>, GraphError> {
        let with_name = fields.contains(|customer| customer.name);
        let found = self.0.partial_customers(ids, with_name).await.map_err(refused)?;
        Ok(found
            .into_iter()
            .map(|customer| (customer.id.clone(), customer))
            .collect())
    }
}
