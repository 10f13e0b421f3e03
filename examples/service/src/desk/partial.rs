//! Charges and customers, read with a part of their columns.

use super::{ChargeFilter, Desk, DeskError, Placed, Window};
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
    /// Returns [`DeskError::Store`] if the database fails.
    pub(crate) async fn partial_charges(
        &self,
        filter: ChargeFilter,
        window: Window,
        columns: Vec<ChargeColumn>,
    ) -> Result<Vec<Placed<PartialCharge>>, DeskError> {
        self.store.partial_charges(filter, window, columns).await
    }

    /// Reads `columns` of the charge `id`; `None` if there is no such charge.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub(crate) async fn partial_charge(
        &self,
        id: ChargeId,
        columns: Vec<ChargeColumn>,
    ) -> Result<Option<PartialCharge>, DeskError> {
        self.store.partial_charge(id, columns).await
    }

    /// Reads the customers with these identifiers, with their names if `with_name` is `true`.
    /// Unknown identifiers are skipped; the order is unspecified.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub(crate) async fn partial_customers(
        &self,
        ids: Vec<CustomerId>,
        with_name: bool,
    ) -> Result<Vec<PartialCustomer>, DeskError> {
        self.store.partial_customers(ids, with_name).await
    }
}

/// Column list of a SELECT statement: the position, then `columns`.
pub(super) fn select_list(columns: &[ChargeColumn]) -> String {
    let columns = columns.iter().map(|column| format!(", {}", column.name()));
    std::iter::once("position".to_owned()).chain(columns).collect()
}
