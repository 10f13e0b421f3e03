//! `/v1/charges/{id}/refunds`: queues refunds and shows their status.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::idempotency::{HeldKey, Reply};
use http_conventions::paging::CursorBinding;
use http_conventions::routing::{InvalidLocation, Location, respond_accepted};
use serde_json::Value;

use super::body::{json, read_json};
use super::caller::Caller;
use super::effects::{Effect, Kind};
use super::lists::{page_of_desk, rules_of_desk, window};
use super::{Answer, App, Completed, Handled};
use crate::domain::{ChargeId, NewRefund, Refund, RefundId};
use crate::wire::RefundBody;

impl App {
    /// Responds 202 with the URL to poll; the refund is booked later.
    pub(super) async fn request_refund(
        &self,
        request: &Request<Bytes>,
        charge: ChargeId,
        held: Option<HeldKey>,
    ) -> Completed {
        let body = if request.body().is_empty() {
            NewRefund::default()
        } else {
            read_json(request, self.conventions.problems())?
        };
        let refund = self.desk.new_refund(charge, body).await;
        let refund = refund.map_err(|error| self.refused(error))?;
        let answer = Answer::new(accepted(&refund)?, held.as_ref());
        let effect = Effect::changed(Kind::Refund, &refund.id);
        let queued = self
            .desk_in_trace()
            .insert_refund(refund, answer.settlement)
            .await;
        let receipt = queued.map_err(|error| self.refused(error))?;
        effect.record();
        Ok(Reply::completed(answer.response, receipt))
    }

    pub(super) async fn list_refunds(
        &self,
        request: &Request<Bytes>,
        charge: ChargeId,
        caller: &Caller,
    ) -> Handled {
        let binding = CursorBinding::new("/v1/charges/{id}/refunds", caller.subject())
            .with_sort("-position")
            .with_filter("charge", charge.as_str());
        let asked = self.asked_page(request, rules_of_desk(), binding)?;
        let rows = self
            .desk
            .refunds(charge, window(&asked))
            .await
            .map_err(|error| self.refused(error))?;
        page_of_desk(request, &asked, rows, |refund| {
            serde_json::to_value(RefundBody::of(refund)).unwrap_or(Value::Null)
        })
    }

    pub(super) async fn read_refund(&self, charge: ChargeId, id: RefundId) -> Handled {
        let refund = self
            .desk
            .refund(charge, id)
            .await
            .map_err(|error| self.refused(error))?;
        Ok(json(StatusCode::OK, &RefundBody::of(&refund)))
    }
}

fn accepted(refund: &Refund) -> Result<Response<Bytes>, InvalidLocation> {
    let (of, id) = (refund.charge.as_str(), refund.id.as_str());
    let location = Location::of_path(["v1", "charges", of, "refunds", id])?;
    Ok(respond_accepted(
        &location,
        json(StatusCode::OK, &RefundBody::of(refund)),
    ))
}
