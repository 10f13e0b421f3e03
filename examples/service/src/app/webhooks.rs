//! `/v1/webhook-endpoints` and `/v1/webhook-deliveries`: registers endpoints, shows and replays
//! deliveries.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::paging::{CursorBinding, PageRules, Position, PositionValue};
use http_conventions::routing::{Location, respond_accepted, respond_created};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as value};
use webhook_core::event::EventType;
use webhook_core::ports::OsEntropy;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    Attempt, AttemptResult, Delivery, DeliveryFilter, DeliveryId, DeliveryState, Destination, Endpoint,
    EndpointId, EndpointStore, EventFilter, Inserted, InvalidDestination, Outbox, ReplayRequest,
};
use webhook_core::signature::Signer;

use super::body::{json, read_json};
use super::caller::Caller;
use super::lists::{filtered_by, shown};
use super::problem::{ADDRESS_REFUSED, NOT_REPLAYABLE, invalid_body, unavailable};
use super::{App, Handled};
use crate::domain::Fault;
use crate::wire::seconds;

/// Body of `POST /v1/webhook-endpoints`.
#[derive(Deserialize)]
struct NewEndpoint {
    url: String,
    /// Event types to send; every type by default.
    #[serde(default)]
    events: Option<Vec<String>>,
}

#[derive(Serialize)]
struct EndpointBody<'a> {
    id: &'a str,
    url: &'a str,
    events: Option<Vec<&'a str>>,
    state: &'static str,
    /// Signing secret, shown only in the response to the registration.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

impl<'a> EndpointBody<'a> {
    fn of(endpoint: &'a Endpoint, secret: Option<String>) -> Self {
        let events = match &endpoint.events {
            EventFilter::Only(types) => Some(types.iter().map(EventType::as_str).collect()),
            _ => None,
        };
        Self {
            id: endpoint.id.as_str(),
            url: endpoint.url.as_str(),
            events,
            state: endpoint.state.as_str(),
            secret,
        }
    }
}

impl App {
    pub(super) async fn register_endpoint(&self, request: &Request<Bytes>) -> Handled {
        let body: NewEndpoint = read_json(request)?;
        let refused = |why: String| {
            ADDRESS_REFUSED
                .problem(self.conventions.problems())
                .with_detail(why)
        };
        let url: Destination = body
            .url
            .parse()
            .map_err(|error: InvalidDestination| refused(error.to_string()))?;
        let signer = Signer::standard_webhooks(&SigningSecret::generate(&OsEntropy));
        let secret = signer.expose_text();
        let endpoint = Endpoint::register(EndpointId::generate(&OsEntropy), &url, signer, &self.addresses)
            .map_err(|error| refused(error.to_string()))?
            .with_events(self.event_filter(body.events)?);
        let location = Location::of_path(["v1", "webhook-endpoints", endpoint.id.as_str()]);
        let body = json(StatusCode::OK, &EndpointBody::of(&endpoint, Some(secret)));
        match EndpointStore::insert(&self.database, endpoint).await {
            Ok(Inserted::Inserted) => Ok(respond_created(&location, body)),
            // a collision of 128 random bits: a retry draws others
            Ok(_) => Err(unavailable()),
            Err(error) => Err(self.refused(error.into())),
        }
    }

    fn event_filter(&self, events: Option<Vec<String>>) -> Result<EventFilter, Problem> {
        let Some(events) = events else {
            return Ok(EventFilter::All);
        };
        let types: Result<Vec<EventType>, _> = events.into_iter().map(EventType::try_from).collect();
        types
            .map(EventFilter::only)
            .map_err(|_| invalid_body(&[Fault::EVENT_TYPE], self.conventions.problems()))
    }

    pub(super) async fn read_endpoint(&self, id: &str) -> Handled {
        let id: EndpointId = id.parse().map_err(|_| Problem::new(ErrorStatus::NOT_FOUND))?;
        match EndpointStore::load(&self.database, &id).await {
            Ok(Some(endpoint)) => Ok(json(StatusCode::OK, &EndpointBody::of(&endpoint, None))),
            Ok(None) => Err(Problem::new(ErrorStatus::NOT_FOUND)),
            Err(error) => Err(self.refused(error.into())),
        }
    }

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
            .database
            .list(&filter, &page)
            .await
            .map_err(|error| self.refused(error.into()))?;
        let page = asked.page(rows, |last| Place(last.id.clone()));
        shown(request, page, |delivery| delivery_json(delivery, None))
    }

    pub(super) async fn read_delivery(&self, id: &str) -> Handled {
        let delivery = self.delivery(id).await?;
        let attempts = self
            .database
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
            now: self.clock.now(),
            dry_run: false,
        };
        match self.database.replay(&replay).await {
            Ok(0) => Err(NOT_REPLAYABLE
                .problem(self.conventions.problems())
                .with_extension("state", delivery.state.as_str())),
            Ok(_) => {
                self.desk.event_notify().notify_one();
                let delivery = self.delivery(id).await?;
                let location = Location::of_path(["v1", "webhook-deliveries", id]);
                let body = json(StatusCode::OK, &delivery_json(&delivery, None));
                Ok(respond_accepted(&location, body))
            }
            Err(error) => Err(self.refused(error.into())),
        }
    }

    async fn delivery(&self, id: &str) -> Result<Delivery, Problem> {
        let not_found = || Problem::new(ErrorStatus::NOT_FOUND);
        let filter = DeliveryFilter::one(&delivery_id(id).ok_or_else(not_found)?);
        let found = self
            .database
            .list(&filter, &webhook_core::sender::Page::default())
            .await;
        found
            .map_err(|error| self.refused(error.into()))?
            .into_iter()
            .next()
            .ok_or_else(not_found)
    }
}

/// Identifier of a delivery in a path: those of the event and the endpoint, which contain no dot
/// here.
fn wire_id(id: &DeliveryId) -> String {
    format!("{}.{}", id.event, id.endpoint)
}

fn delivery_id(text: &str) -> Option<DeliveryId> {
    let (event, endpoint) = text.split_once('.')?;
    Some(DeliveryId {
        event: event.parse().ok()?,
        endpoint: endpoint.parse().ok()?,
    })
}

/// Position of a delivery in the list, which is sorted by id.
struct Place(DeliveryId);

impl Position for Place {
    fn to_values(&self) -> Vec<PositionValue> {
        wire_id(&self.0).to_values()
    }

    fn from_values(values: Vec<PositionValue>) -> Option<Self> {
        delivery_id(&String::from_values(values)?).map(Self)
    }
}

fn delivery_json(delivery: &Delivery, attempts: Option<&[Attempt]>) -> Value {
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
