//! Resources that a request created, changed or deleted, as recorded by its handler.

use std::fmt::Display;

use super::observed;

/// A resource that a request created, changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) kind: Kind,
    /// Id in paths of the API.
    pub(super) id: String,
    pub(super) is_deleted: bool,
}

/// Type of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Charge,
    Refund,
    Customer,
    Endpoint,
    Delivery,
}

impl Effect {
    /// A resource that was created or changed.
    pub(super) fn changed(kind: Kind, id: impl Display) -> Self {
        Self {
            kind,
            id: id.to_string(),
            is_deleted: false,
        }
    }

    /// A resource that was deleted.
    pub(super) fn deleted(kind: Kind, id: impl Display) -> Self {
        Self {
            is_deleted: true,
            ..Self::changed(kind, id)
        }
    }

    /// Records the effect for the request that the task handles. Call it after the commit.
    pub(super) fn record(self) {
        observed::record_effect(self);
    }
}
