//! Charges and customers, read with a part of their columns.

use host_store_sqlite::rusqlite::{OptionalExtension, Result, Row};

use super::{ChargeFilter, Desk, DeskError, Placed, Window, charges, rows};
use crate::domain::{Amount, Charge, ChargeId, ChargeStatus, Currency, CustomerId};

/// Column of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChargeColumn {
    Id,
    Customer,
    Amount,
    Currency,
    Description,
    AmountRefunded,
    Status,
    Version,
}

impl ChargeColumn {
    const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Customer => "customer",
            Self::Amount => "amount",
            Self::Currency => "currency",
            Self::Description => "description",
            Self::AmountRefunded => "amount_refunded",
            Self::Status => "status",
            Self::Version => "version",
        }
    }
}

/// Charge with the columns that were read; the others are `None`.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartialCharge {
    pub(crate) id: Option<ChargeId>,
    /// `Some(None)` if the charge has no customer.
    pub(crate) customer: Option<Option<CustomerId>>,
    pub(crate) amount: Option<Amount>,
    pub(crate) currency: Option<Currency>,
    /// `Some(None)` if the charge has no description.
    pub(crate) description: Option<Option<String>>,
    pub(crate) amount_refunded: Option<u32>,
    pub(crate) status: Option<ChargeStatus>,
    pub(crate) version: Option<u32>,
}

impl From<Charge> for PartialCharge {
    fn from(charge: Charge) -> Self {
        Self {
            status: Some(charge.status()),
            id: Some(charge.id),
            customer: Some(charge.customer),
            amount: Some(charge.amount),
            currency: Some(charge.currency),
            description: Some(charge.description),
            amount_refunded: Some(charge.amount_refunded),
            version: Some(charge.version),
        }
    }
}

/// Customer, with the name if it was read.
#[derive(Clone, Debug)]
pub(crate) struct PartialCustomer {
    pub(crate) id: CustomerId,
    pub(crate) name: Option<String>,
}

impl Desk {
    /// Reads `columns` of the charges in `window` that match `filter`.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub(crate) async fn partial_charges(
        &self,
        filter: ChargeFilter,
        window: Window,
        columns: Vec<ChargeColumn>,
    ) -> Result<Vec<Placed<PartialCharge>>, DeskError> {
        self.select_charges(&select_list(&columns), filter, window, move |row| {
            read_charge(row, &columns)
        })
        .await
    }

    /// Reads `columns` of the charge `id`; `None` if there is no such charge.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub(crate) async fn partial_charge(
        &self,
        id: ChargeId,
        columns: Vec<ChargeColumn>,
    ) -> Result<Option<PartialCharge>, DeskError> {
        let sql = charges::select_by_id(&select_list(&columns));
        self.database()
            .read(move |connection| {
                let mut query = connection.prepare_cached(&sql)?;
                let found = query
                    .query_row([id.as_str()], |row| read_charge(row, &columns))
                    .optional()?;
                Ok(found.map(|placed| placed.row))
            })
            .await
    }

    /// Reads the customers with these identifiers, with their names if `with_name` is `true`.
    /// Unknown identifiers are skipped; the order is unspecified.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails.
    pub(crate) async fn partial_customers(
        &self,
        ids: Vec<CustomerId>,
        with_name: bool,
    ) -> Result<Vec<PartialCustomer>, DeskError> {
        let columns = if with_name { "id, name" } else { "id, NULL" };
        let sql = format!("SELECT {columns} FROM customer WHERE id IN (SELECT value FROM json_each(?1))");
        // identifiers contain no character that JSON escapes
        let ids: Vec<_> = ids.iter().map(|id| format!("\"{id}\"")).collect();
        let ids = format!("[{}]", ids.join(","));
        self.database()
            .read(move |connection| {
                let mut query = connection.prepare_cached(&sql)?;
                let found = query.query_map([ids], |row| {
                    Ok(PartialCustomer {
                        id: rows::parsed(row, 0)?,
                        name: row.get(1)?,
                    })
                })?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}

/// Column list of a SELECT statement: the position, then `columns`.
fn select_list(columns: &[ChargeColumn]) -> String {
    let columns = columns.iter().map(|column| format!(", {}", column.name()));
    std::iter::once("position".to_owned()).chain(columns).collect()
}

/// Reads a row with the columns of [`select_list`].
fn read_charge(row: &Row<'_>, columns: &[ChargeColumn]) -> Result<Placed<PartialCharge>> {
    let mut charge = PartialCharge::default();
    for (column, at) in columns.iter().zip(1..) {
        match column {
            ChargeColumn::Id => charge.id = Some(rows::parsed(row, at)?),
            ChargeColumn::Customer => charge.customer = Some(rows::optional(row, at)?),
            ChargeColumn::Amount => charge.amount = Some(rows::amount(row, at)?),
            ChargeColumn::Currency => charge.currency = Some(rows::parsed(row, at)?),
            ChargeColumn::Description => charge.description = Some(row.get(at)?),
            ChargeColumn::AmountRefunded => charge.amount_refunded = Some(row.get(at)?),
            ChargeColumn::Status => {
                let status = ChargeStatus::parse(row.get_ref(at)?.as_str()?);
                charge.status = Some(status.ok_or_else(|| rows::unreadable(at))?);
            }
            ChargeColumn::Version => charge.version = Some(row.get(at)?),
        }
    }
    Ok(Placed {
        position: row.get(0)?,
        row: charge,
    })
}
