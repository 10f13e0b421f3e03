//! Refunds: queued by a request, booked by [`Desk::book_refunds`].

use host_store_sqlite::column::Time;
use host_store_sqlite::rusqlite::{OptionalExtension, Transaction, params};

use super::events::{EventKind, Outgoing};
use super::{Desk, DeskError, Placed, Window, charges, rows};
use crate::domain::{Charge, ChargeId, NewRefund, Refund, RefundId, RefundRefused};

/// Maximum number of refunds processed by one transaction.
const BATCH: u32 = 64;

impl Desk {
    /// Queues a refund of a charge.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such charge
    /// - [`DeskError::ExceedsCharge`] if the amount is more than can still be refunded
    /// - [`DeskError::Faulty`] if the amount is not in 1 to 99,999,999
    /// - [`DeskError::Database`] if the database fails
    pub async fn request_refund(&self, charge: ChargeId, body: NewRefund) -> Result<Refund, DeskError> {
        self.request_refund_and(charge, body, |_, refund| Ok(refund.clone()))
            .await
    }

    /// Like [`request_refund`](Self::request_refund), with `finish` in the same transaction.
    pub(crate) async fn request_refund_and<T: Send + 'static>(
        &self,
        charge: ChargeId,
        body: NewRefund,
        finish: impl FnOnce(&Transaction<'_>, &Refund) -> Result<T, DeskError> + Send + 'static,
    ) -> Result<T, DeskError> {
        let (id, now) = (RefundId::from_random(crate::random()), self.clock.now());
        let finished = self
            .database
            .write(move |transaction| {
                let charge = charges::load(transaction, &charge)?;
                let refund = body.create(&charge, id, now)?;
                transaction
                    .prepare_cached("INSERT INTO refund (id, charge, amount, status, created) VALUES (?1, ?2, ?3, ?4, ?5)")?
                    .execute(params![
                        refund.id.as_str(),
                        refund.charge.as_str(),
                        refund.amount.units(),
                        refund.status.as_str(),
                        Time(refund.created),
                    ])?;
                finish(transaction, &refund)
            })
            .await?;
        self.refund_notify.notify_one();
        Ok(finished)
    }

    /// Reads a refund of this charge.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if the charge has no such refund
    /// - [`DeskError::Database`] if the database fails
    pub async fn refund(&self, charge: ChargeId, id: RefundId) -> Result<Refund, DeskError> {
        let sql = format!(
            "SELECT {} FROM refund WHERE id = ?1 AND charge = ?2",
            rows::REFUND
        );
        let found = self
            .database
            .read(move |connection| {
                let mut query = connection.prepare_cached(&sql)?;
                Ok::<_, DeskError>(
                    query
                        .query_row([id.as_str(), charge.as_str()], rows::refund)
                        .optional()?,
                )
            })
            .await?;
        found.map(|placed| placed.row).ok_or(DeskError::NotFound)
    }

    /// Reads the refunds of a charge in `window`.
    ///
    /// # Errors
    ///
    /// - [`DeskError::NotFound`] if there is no such charge
    /// - [`DeskError::Database`] if the database fails
    pub async fn refunds(&self, charge: ChargeId, window: Window) -> Result<Vec<Placed<Refund>>, DeskError> {
        let (side, from, order) = window.bounds();
        let sql = format!(
            "SELECT {} FROM refund WHERE charge = ?1 AND position {side} ?2 ORDER BY position {order} LIMIT ?3",
            rows::REFUND
        );
        self.database
            .read(move |connection| {
                charges::load(connection, &charge)?;
                let mut query = connection.prepare_cached(&sql)?;
                let found = query.query_map(params![charge.as_str(), from, window.limit()], rows::refund)?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Processes up to 64 queued refunds in one transaction, oldest first. A refund becomes
    /// `succeeded`, with an event `charge.refunded`, or `failed` if it exceeds the amount that can
    /// still be refunded. Returns the number of processed refunds.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Database`] if the database fails; all these refunds stay queued.
    pub async fn book_refunds(&self) -> Result<usize, DeskError> {
        let outgoing = self.outgoing(EventKind::ChargeRefunded);
        let (booked, changed) = self
            .database
            .write(move |transaction| book_pending(transaction, &outgoing))
            .await?;
        for charge in &changed {
            self.publish(charge);
        }
        Ok(booked)
    }
}

fn book_pending(
    transaction: &Transaction<'_>,
    outgoing: &Outgoing,
) -> Result<(usize, Vec<Charge>), DeskError> {
    let sql = format!(
        "SELECT {} FROM refund WHERE status = 'pending' ORDER BY position LIMIT ?1",
        rows::REFUND
    );
    let pending: Vec<Placed<Refund>> = transaction
        .prepare_cached(&sql)?
        .query_map([BATCH], rows::refund)?
        .collect::<Result<_, _>>()?;
    let count = pending.len();
    let mut changed = Vec::new();
    for Placed { row: refund, .. } in pending {
        let (refund, charge) = refund.clone().book(charges::load(transaction, &refund.charge)?);
        transaction
            .prepare_cached("UPDATE refund SET status = ?2 WHERE id = ?1")?
            .execute([refund.id.as_str(), refund.status.as_str()])?;
        if let Some(charge) = charge {
            if !charges::update(transaction, &charge)? {
                return Err(DeskError::Changed);
            }
            outgoing.send_in(transaction, &charge)?;
            changed.push(charge);
        }
    }
    Ok((count, changed))
}

impl From<RefundRefused> for DeskError {
    fn from(refused: RefundRefused) -> Self {
        match refused {
            RefundRefused::Faulty(fault) => Self::Faulty(vec![fault]),
            RefundRefused::ExceedsCharge { left } => Self::ExceedsCharge { left },
        }
    }
}
