//! Conversion between the desk's values and its table rows.

use std::str::FromStr;
use std::time::{Duration, SystemTime};

use host_store_postgres::sqlx::postgres::PgRow;
use host_store_postgres::sqlx::{Error, Row};

use crate::desk::{ChargeColumn, PartialCharge, Placed, RefundSeen};
use crate::domain::{Amount, Charge, ChargeStatus, Customer, Refund, RefundStatus};

/// Error for a column whose value no version of the desk has written.
pub(super) fn unreadable(column: usize) -> Error {
    Error::Decode(format!("column {column} cannot be read").into())
}

pub(super) fn parsed<T: FromStr>(row: &PgRow, column: usize) -> Result<T, Error> {
    let text: &str = row.try_get(column)?;
    text.parse().map_err(|_| unreadable(column))
}

/// Text that may be null.
fn optional<T: FromStr>(row: &PgRow, column: usize) -> Result<Option<T>, Error> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(|text| text.parse().map_err(|_| unreadable(column)))
        .transpose()
}

pub(super) fn number(row: &PgRow, column: usize) -> Result<u32, Error> {
    let number: i64 = row.try_get(column)?;
    number.try_into().map_err(|_| unreadable(column))
}

fn amount(row: &PgRow, column: usize) -> Result<Amount, Error> {
    Amount::parse(row.try_get(column)?, "").map_err(|_| unreadable(column))
}

/// Nanoseconds since 1970.
pub(super) fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Reverses [`nanoseconds`].
pub(super) fn time(row: &PgRow, column: usize) -> Result<SystemTime, Error> {
    let nanoseconds: i64 = row.try_get(column)?;
    let since = u64::try_from(nanoseconds).map_err(|_| unreadable(column))?;
    Ok(SystemTime::UNIX_EPOCH + Duration::from_nanos(since))
}

/// Columns that [`charge`] reads.
pub(super) const CHARGE: &str =
    "position, id, customer, amount, currency, description, amount_refunded, version, created";

pub(super) fn charge(row: &PgRow) -> Result<Placed<Charge>, Error> {
    let charge = Charge {
        id: parsed(row, 1)?,
        customer: optional(row, 2)?,
        amount: amount(row, 3)?,
        currency: parsed(row, 4)?,
        description: row.try_get(5)?,
        amount_refunded: number(row, 6)?,
        version: number(row, 7)?,
        created: time(row, 8)?,
    };
    Ok(Placed {
        position: row.try_get(0)?,
        row: charge,
    })
}

/// Columns that [`refund`] reads.
pub(super) const REFUND: &str = "position, id, charge, amount, status, created";

pub(super) fn refund(row: &PgRow) -> Result<Placed<Refund>, Error> {
    let refund = Refund {
        id: parsed(row, 1)?,
        charge: parsed(row, 2)?,
        amount: amount(row, 3)?,
        status: RefundStatus::parse(row.try_get(4)?).ok_or_else(|| unreadable(4))?,
        created: time(row, 5)?,
    };
    Ok(Placed {
        position: row.try_get(0)?,
        row: refund,
    })
}

/// Columns that [`refund_seen`] reads: those of [`REFUND`], and two of the charge.
pub(super) const REFUND_SEEN: &str = "refund.position, refund.id, refund.charge, refund.amount, \
     refund.status, refund.created, charge.currency, charge.description";

pub(super) fn refund_seen(row: &PgRow) -> Result<Placed<RefundSeen>, Error> {
    let Placed {
        position,
        row: refund,
    } = refund(row)?;
    let seen = RefundSeen::new(refund, parsed(row, 6)?, row.try_get(7)?);
    Ok(Placed { position, row: seen })
}

/// Columns that [`customer`] reads.
pub(super) const CUSTOMER: &str = "position, id, name, created";

pub(super) fn customer(row: &PgRow) -> Result<Placed<Customer>, Error> {
    let customer = Customer {
        id: parsed(row, 1)?,
        name: row.try_get(2)?,
        created: time(row, 3)?,
    };
    Ok(Placed {
        position: row.try_get(0)?,
        row: customer,
    })
}

/// Reads a row with the columns of [`select_list`](crate::desk::partial::select_list).
pub(super) fn partial_charge(row: &PgRow, columns: &[ChargeColumn]) -> Result<Placed<PartialCharge>, Error> {
    let mut charge = PartialCharge::default();
    for (column, at) in columns.iter().zip(1..) {
        match column {
            ChargeColumn::Id => charge.id = Some(parsed(row, at)?),
            ChargeColumn::Customer => charge.customer = Some(optional(row, at)?),
            ChargeColumn::Amount => charge.amount = Some(amount(row, at)?),
            ChargeColumn::Currency => charge.currency = Some(parsed(row, at)?),
            ChargeColumn::Description => charge.description = Some(row.try_get(at)?),
            ChargeColumn::AmountRefunded => charge.amount_refunded = Some(number(row, at)?),
            ChargeColumn::Status => {
                let status = ChargeStatus::parse(row.try_get(at)?);
                charge.status = Some(status.ok_or_else(|| unreadable(at))?);
            }
            ChargeColumn::Version => charge.version = Some(number(row, at)?),
        }
    }
    Ok(Placed {
        position: row.try_get(0)?,
        row: charge,
    })
}
