//! Customers: creation and lists.

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::{OptionalExtension, Transaction};

use super::{Desk, DeskError, Placed, Window, rows};
use crate::domain::{Customer, CustomerId, NewCustomer};

impl Desk {
    /// Creates a customer.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Faulty`] with every fault of the body
    /// - [`DeskError::Database`] if the database fails
    pub async fn create_customer(&self, body: NewCustomer) -> Result<Customer, DeskError> {
        self.create_customer_and(body, |_, customer| Ok(customer.clone()))
            .await
    }

    /// Like [`create_customer`](Self::create_customer), with `finish` in the same transaction.
    pub(crate) async fn create_customer_and<T: Send + 'static>(
        &self,
        body: NewCustomer,
        finish: impl FnOnce(&Transaction<'_>, &Customer) -> Result<T, DeskError> + Send + 'static,
    ) -> Result<T, DeskError> {
        let id = CustomerId::from_random(crate::random());
        let customer = body.create(id, self.clock.now()).map_err(DeskError::Faulty)?;
        self.database
            .write(move |transaction| {
                transaction
                    .prepare_cached("INSERT INTO customer (id, name, created) VALUES (?1, ?2, ?3)")?
                    .execute((customer.id.as_str(), &customer.name, Time(customer.created)))?;
                finish(transaction, &customer)
            })
            .await
    }

    /// Reads a customer.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such customer
    /// - [`DeskError::Database`] if the database fails
    pub async fn customer(&self, id: CustomerId) -> Result<Customer, DeskError> {
        let sql = format!("SELECT {} FROM customer WHERE id = ?1", rows::CUSTOMER);
        let found = self
            .database
            .read(move |connection| {
                let mut query = connection.prepare_cached(&sql)?;
                Ok::<_, DeskError>(query.query_row([id.as_str()], rows::customer).optional()?)
            })
            .await?;
        found.map(|placed| placed.row).ok_or(DeskError::NotFound)
    }

    /// Reads the customers in `window`.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub async fn customers(&self, window: Window) -> Result<Vec<Placed<Customer>>, DeskError> {
        let (side, from, order) = window.bounds();
        let sql = format!(
            "SELECT {} FROM customer WHERE position {side} ?1 ORDER BY position {order} LIMIT ?2",
            rows::CUSTOMER
        );
        self.database
            .read(move |connection| {
                let mut query = connection.prepare_cached(&sql)?;
                let found = query.query_map((from, window.limit()), rows::customer)?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}
