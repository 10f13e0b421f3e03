//! Conversion between the desk's values and its table rows.

use std::str::FromStr;

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::types::{FromSqlError, Type};
use host_store_sqlite::rusqlite::{Error, Result, Row};

use crate::desk::{ChargeColumn, PartialCharge, Placed, RefundSeen};
use crate::domain::{Amount, Charge, ChargeStatus, Customer, Refund, RefundStatus};

/// Error for a column whose text no version of the desk has written.
pub(super) fn unreadable(column: usize) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, Box::new(FromSqlError::InvalidType))
}

pub(super) fn parsed<T: FromStr>(row: &Row<'_>, column: usize) -> Result<T> {
    row.get_ref(column)?
        .as_str()?
        .parse()
        .map_err(|_| unreadable(column))
}

/// Text that may be null.
fn optional<T: FromStr>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| text.parse().map_err(|_| unreadable(column)))
        .transpose()
}

fn amount(row: &Row<'_>, column: usize) -> Result<Amount> {
    Amount::parse(row.get(column)?, "").map_err(|_| unreadable(column))
}

/// Columns that [`charge`] reads.
pub(super) const CHARGE: &str =
    "position, id, customer, amount, currency, description, amount_refunded, version, created";

pub(super) fn charge(row: &Row<'_>) -> Result<Placed<Charge>> {
    let Time(created) = row.get(8)?;
    let charge = Charge {
        id: parsed(row, 1)?,
        customer: optional(row, 2)?,
        amount: amount(row, 3)?,
        currency: parsed(row, 4)?,
        description: row.get(5)?,
        amount_refunded: row.get(6)?,
        version: row.get(7)?,
        created,
    };
    Ok(Placed {
        position: row.get(0)?,
        row: charge,
    })
}

/// Columns that [`refund`] reads.
pub(super) const REFUND: &str = "position, id, charge, amount, status, created";

pub(super) fn refund(row: &Row<'_>) -> Result<Placed<Refund>> {
    let Time(created) = row.get(5)?;
    let refund = Refund {
        id: parsed(row, 1)?,
        charge: parsed(row, 2)?,
        amount: amount(row, 3)?,
        status: RefundStatus::parse(row.get_ref(4)?.as_str()?).ok_or_else(|| unreadable(4))?,
        created,
    };
    Ok(Placed {
        position: row.get(0)?,
        row: refund,
    })
}

/// Columns that [`refund_seen`] reads: those of [`REFUND`], and two of the charge.
pub(super) const REFUND_SEEN: &str = "refund.position, refund.id, refund.charge, refund.amount, \
     refund.status, refund.created, charge.currency, charge.description";

pub(super) fn refund_seen(row: &Row<'_>) -> Result<Placed<RefundSeen>> {
    let Placed {
        position,
        row: refund,
    } = refund(row)?;
    let seen = RefundSeen::new(refund, parsed(row, 6)?, row.get(7)?);
    Ok(Placed { position, row: seen })
}

/// Columns that [`customer`] reads.
pub(super) const CUSTOMER: &str = "position, id, name, created";

pub(super) fn customer(row: &Row<'_>) -> Result<Placed<Customer>> {
    let Time(created) = row.get(3)?;
    let customer = Customer {
        id: parsed(row, 1)?,
        name: row.get(2)?,
        created,
    };
    Ok(Placed {
        position: row.get(0)?,
        row: customer,
    })
}

/// Reads a row with the columns of [`select_list`](crate::desk::partial::select_list).
pub(super) fn partial_charge(row: &Row<'_>, columns: &[ChargeColumn]) -> Result<Placed<PartialCharge>> {
    let mut charge = PartialCharge::default();
    for (column, at) in columns.iter().zip(1..) {
        match column {
            ChargeColumn::Id => charge.id = Some(parsed(row, at)?),
            ChargeColumn::Customer => charge.customer = Some(optional(row, at)?),
            ChargeColumn::Amount => charge.amount = Some(amount(row, at)?),
            ChargeColumn::Currency => charge.currency = Some(parsed(row, at)?),
            ChargeColumn::Description => charge.description = Some(row.get(at)?),
            ChargeColumn::AmountRefunded => charge.amount_refunded = Some(row.get(at)?),
            ChargeColumn::Status => {
                let status = ChargeStatus::parse(row.get_ref(at)?.as_str()?);
                charge.status = Some(status.ok_or_else(|| unreadable(at))?);
            }
            ChargeColumn::Version => charge.version = Some(row.get(at)?),
        }
    }
    Ok(Placed {
        position: row.get(0)?,
        row: charge,
    })
}
