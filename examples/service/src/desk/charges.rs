//! Charges: creation, replacement and lists.

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::{self, Connection, OptionalExtension, Row, Transaction, params};

use super::events::EventKind;
use super::{Desk, DeskError, Placed, Window, rows};
use crate::domain::{Charge, ChargeId, ChargeStatus, CustomerId, Fault, NewCharge};

/// Filter of a list of charges; a charge must match every given value.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ChargeFilter {
    /// Status of the charge.
    pub status: Option<ChargeStatus>,
    /// Charged customer.
    pub customer: Option<CustomerId>,
}

impl Desk {
    /// Creates a charge, and enqueues the event `charge.created` in the same transaction.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Faulty`] with every fault of the body, or if the customer is unknown
    /// - [`DeskError::Database`] if the database fails
    pub async fn create_charge(&self, body: NewCharge) -> Result<Charge, DeskError> {
        self.create_charge_and(body, |_, charge| Ok(charge.clone())).await
    }

    /// Like [`create_charge`](Self::create_charge), with `finish` in the same transaction.
    pub(crate) async fn create_charge_and<T: Send + 'static>(
        &self,
        body: NewCharge,
        finish: impl FnOnce(&Transaction<'_>, &Charge) -> Result<T, DeskError> + Send + 'static,
    ) -> Result<T, DeskError> {
        let id = ChargeId::from_random(crate::random());
        let charge = body.create(id, self.clock.now()).map_err(DeskError::Faulty)?;
        let outgoing = self.outgoing(EventKind::ChargeCreated);
        let (charge, finished) = self
            .database
            .write(move |transaction| {
                insert(transaction, &charge)?;
                outgoing.send_in(transaction, &charge)?;
                let finished = finish(transaction, &charge)?;
                Ok::<_, DeskError>((charge, finished))
            })
            .await?;
        self.publish(&charge);
        Ok(finished)
    }

    /// Reads a charge.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such charge
    /// - [`DeskError::Database`] if the database fails
    pub async fn charge(&self, id: ChargeId) -> Result<Charge, DeskError> {
        self.database.read(move |connection| load(connection, &id)).await
    }

    /// Reads the charges in `window` that match `filter`.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub async fn charges(
        &self,
        filter: ChargeFilter,
        window: Window,
    ) -> Result<Vec<Placed<Charge>>, DeskError> {
        self.select_charges(rows::CHARGE, filter, window, rows::charge)
            .await
    }

    /// Reads `columns` of the charges in `window` that match `filter`; `read` reads a row.
    pub(super) async fn select_charges<T: Send + 'static>(
        &self,
        columns: &str,
        filter: ChargeFilter,
        window: Window,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<Placed<T>> + Send + 'static,
    ) -> Result<Vec<Placed<T>>, DeskError> {
        let (side, from, order) = window.bounds();
        // one condition per filter, so that SQLite can use its index
        let by_status = if filter.status.is_some() {
            "status = ?2"
        } else {
            "?2 IS NULL"
        };
        let by_customer = if filter.customer.is_some() {
            "customer = ?3"
        } else {
            "?3 IS NULL"
        };
        let sql = format!(
            "SELECT {columns} FROM charge WHERE position {side} ?1 AND {by_status} AND {by_customer} \
             ORDER BY position {order} LIMIT ?4",
        );
        self.database
            .read(move |connection| {
                let status = filter.status.map(ChargeStatus::as_str);
                let customer = filter.customer.as_ref().map(CustomerId::as_str);
                let mut query = connection.prepare_cached(&sql)?;
                let found =
                    query.query_map(params![from, status, customer, window.limit()], |row| read(row))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Applies `body` to the charge `read`, if the stored charge still has the same version.
    ///
    /// # Errors
    ///
    /// - [`DeskError::Faulty`] with every fault of the body
    /// - [`DeskError::Changed`] if the stored charge has another version
    /// - [`DeskError::Database`] if the database fails
    pub async fn replace_charge(&self, read: Charge, body: NewCharge) -> Result<Charge, DeskError> {
        let replaced = body.replace(read).map_err(DeskError::Faulty)?;
        let replaced = self
            .database
            .write(move |transaction| {
                if update(transaction, &replaced)? {
                    Ok(replaced)
                } else {
                    Err(DeskError::Changed)
                }
            })
            .await?;
        self.publish(&replaced);
        Ok(replaced)
    }
}

/// SQL that reads `columns` of a charge by its identifier.
pub(super) fn select_by_id(columns: &str) -> String {
    format!("SELECT {columns} FROM charge WHERE id = ?1")
}

pub(super) fn load(connection: &Connection, id: &ChargeId) -> Result<Charge, DeskError> {
    let found = connection
        .prepare_cached(&select_by_id(rows::CHARGE))?
        .query_row([id.as_str()], rows::charge)
        .optional()?;
    found.map(|placed| placed.row).ok_or(DeskError::NotFound)
}

fn insert(transaction: &Transaction<'_>, charge: &Charge) -> Result<(), DeskError> {
    let customer = charge.customer.as_ref().map(CustomerId::as_str);
    if let Some(customer) = customer {
        let mut known = transaction.prepare_cached("SELECT 1 FROM customer WHERE id = ?1")?;
        if !known.exists([customer])? {
            return Err(DeskError::Faulty(vec![Fault::UNKNOWN_CUSTOMER]));
        }
    }
    transaction
        .prepare_cached(
            "INSERT INTO charge (id, customer, amount, currency, description, amount_refunded, status, version, created) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            charge.id.as_str(),
            customer,
            charge.amount.units(),
            charge.currency.as_str(),
            charge.description,
            charge.amount_refunded,
            charge.status().as_str(),
            charge.version,
            Time(charge.created),
        ])?;
    Ok(())
}

/// Writes the mutable columns of a charge. Returns `false` if the stored version is not the
/// preceding one.
pub(super) fn update(transaction: &Transaction<'_>, charge: &Charge) -> Result<bool, DeskError> {
    let written = transaction
        .prepare_cached(
            "UPDATE charge SET description = ?3, amount_refunded = ?4, status = ?5, version = ?2 \
             WHERE id = ?1 AND version = ?2 - 1",
        )?
        .execute(params![
            charge.id.as_str(),
            charge.version,
            charge.description,
            charge.amount_refunded,
            charge.status().as_str(),
        ])?;
    Ok(written == 1)
}
