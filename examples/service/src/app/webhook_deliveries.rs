//! `/v1/webhook-deliveries`: shows and replays deliveries.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::paging::{CursorBinding, PageRules, Position, PositionValue};
use http_conventions::routing::{InvalidLocation, Location, respond_accepted};
use serde_json::{Value, json as value};
use webhook_core::sender::{
    Attempt, AttemptResult, Delivery, DeliveryFilter, DeliveryId, DeliveryState, Outbox, ReplayRequest,
    Replayed,
};

use super::body::json;
use super::caller::Caller;
use super::effects::{Effect, Kind};
use super::lists::{filtered_by, shown};
use super::problem::NOT_REPLAYABLE;
use super::{App, Handled};
use crate::wire::seconds;

impl App {
    pub(super) async fn list_deliveries(&self, request: &Request<Bytes>, caller: &Caller) -> Handled {
        let mut filter = DeliveryFilter::default();
        let mut binding = CursorBinding::new("/v1/webhook-deliveries", caller.subject()).with_sort("id");
        let state = filtered_by(request, "state", |word| word.parse::<DeliveryState>().ok())?;
        if let Some(state) = state {
            binding = binding.with_filter("state", state.as_str());
            filter.states = vec![state];
        }
        let asked = self.asked_page::<Place>(request, PageRules::default(), binding)?;
        let page = webhook_core::sender::Page {
            after: asked.after().map(|place| place.0.clone()),
            limit: asked.limit().fetch(),
        };
        let rows = self
            .stores
            .outbox
            .list(&filter, &page)
            .await
            .map_err(|error| self.refused(error.into()))?;
        let page = asked.page(rows, |last| Place(last.id.clone()));
        shown(request, page, |delivery| delivery_json(delivery, None))
    }

    pub(super) async fn read_delivery(&self, id: &str) -> Handled {
        let delivery = self.delivery(id).await?;
        let attempts = self
            .stores
            .outbox
            .attempts(&delivery.id)
            .await
            .map_err(|error| self.refused(error.into()))?;
        Ok(json(StatusCode::OK, &delivery_json(&delivery, Some(&attempts))))
    }

    /// Responds 202 with the delivery to poll; it is sent again soon.
    pub(super) async fn replay_delivery(&self, id: &str) -> Handled {
        let delivery = self.delivery(id).await?;
        let filter = DeliveryFilter::one(&delivery.id);
        let replay = ReplayRequest {
            filter,
            acknowledged: false,
            after: None,
            limit: 1,
            now: self.clock.now(),
            dry_run: false,
        };
        match self.stores.outbox.replay(&replay).await {
            Ok(Replayed { count: 0, .. }) => Err(NOT_REPLAYABLE
                .problem(self.conventions.problems())
                .with_extension("state", delivery.state.as_str())),
            Ok(_) => {
                Effect::changed(Kind::Delivery, wire_id(&delivery.id)).record();
                self.desk.event_notify().notify_one();
                let delivery = self.delivery(id).await?;
                let body = json(StatusCode::OK, &delivery_json(&delivery, None));
                Ok(respond_accepted(&location_of(&delivery.id)?, body))
            }
            Err(error) => Err(self.refused(error.into())),
        }
    }

    pub(super) async fn delivery(&self, id: &str) -> Result<Delivery, Problem> {
        let not_found = || Problem::new(ErrorStatus::NOT_FOUND);
        let filter = DeliveryFilter::one(&delivery_id(id).ok_or_else(not_found)?);
        let found = self
            .stores
            .outbox
            .list(&filter, &webhook_core::sender::Page::default())
            .await;
        found
            .map_err(|error| self.refused(error.into()))?
            .into_iter()
            .next()
            .ok_or_else(not_found)
    }
}

/// Location of a delivery.
pub(super) fn location_of(id: &DeliveryId) -> Result<Location, InvalidLocation> {
    Location::of_path(["v1", "webhook-deliveries", &wire_id(id)])
}

/// Identifier of a delivery in a path: those of the event and the endpoint, which contain no dot
/// here.
pub(super) fn wire_id(id: &DeliveryId) -> String {
    format!("{}.{}", id.event, id.endpoint)
}

pub(super) fn delivery_id(text: &str) -> Option<DeliveryId> {
    let (event, endpoint) = text.split_once('.')?;
    Some(DeliveryId {
        event: event.parse().ok()?,
        endpoint: endpoint.parse().ok()?,
    })
}

/// Position of a delivery in the list, which is sorted by id.
pub(super) struct Place(pub(super) DeliveryId);

impl Position for Place {
    fn to_values(&self) -> Vec<PositionValue> {
        wire_id(&self.0).to_values()
    }

    fn from_values(values: Vec<PositionValue>) -> Option<Self> {
        delivery_id(&String::from_values(values)?).map(Self)
    }
}

pub(super) fn delivery_json(delivery: &Delivery, attempts: Option<&[Attempt]>) -> Value {
    let mut body = value!({
        "id": wire_id(&delivery.id),
        "event": delivery.id.event.as_str(),
        "endpoint": delivery.id.endpoint.as_str(),
        "state": delivery.state.as_str(),
        "attempts": delivery.attempts,
        "due": delivery.state.is_live().then(|| seconds(delivery.due_at) + 1),
        "reason": delivery.reason.map(|reason| reason.as_str()),
    });
    if let (Some(attempts), Some(body)) = (attempts, body.as_object_mut()) {
        body.insert("log".to_owned(), attempts.iter().map(attempt_json).collect());
    }
    body
}

fn attempt_json(attempt: &Attempt) -> Value {
    let duration = u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX);
    match &attempt.result {
        AttemptResult::Answered { status, body } => value!({
            "status": status.as_u16(),
            "duration_ms": duration,
            "answer": String::from_utf8_lossy(body),
        }),
        AttemptResult::Failed { kind, message } => value!({
            "failure": kind.as_str(),
            "duration_ms": duration,
            "message": message,
        }),
    }
}
