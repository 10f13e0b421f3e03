//! `/v1/webhook-endpoints`: registers, lists, changes and deletes endpoints, rotates their secrets
//! and sends test events.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::idempotency::{HeldKey, Reply};
use http_conventions::paging::{CursorBinding, PageRules, Position, PositionValue};
use http_conventions::routing::{Location, respond_accepted, respond_created};
use serde_json::{Value, json as value};
use webhook_core::event::{Envelope, EventId};
use webhook_core::ports::OsEntropy;
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{
    Classification, ContentMode, Delivery, DeliveryId, Destination, Endpoint, EndpointId, EndpointQuery,
    EndpointUpdate, EventFilter, EventPattern, Inserted, InvalidDestination, Lane, OperationalEvent, Owner,
    Rotated, Rotation,
};
use webhook_core::signature::{Signer, Signers};

use super::body::{json, read_json, read_merge_patch};
use super::caller::Caller;
use super::effects::{Effect, Kind};
use super::endpoint_bodies::{Audience, Changes, NewEndpoint};
use super::lists::shown;
use super::problem::{ADDRESS_REFUSED, unavailable};
use super::webhook_deliveries::{delivery_json, location_of, wire_id};
use super::{Answer, App, Completed, Handled, traced};
use crate::desk::shop;
use crate::wire::seconds;

/// Type of a test event.
const TEST: &str = "endpoint.test";

impl App {
    /// Registers an endpoint and responds with its secret.
    ///
    /// The record of the idempotency key has the status alone. A client that did not get the
    /// response learns from a retry that the endpoint is registered, and rotates its secret.
    pub(super) async fn register_endpoint(
        &self,
        request: &Request<Bytes>,
        held: Option<HeldKey>,
    ) -> Completed {
        let body: NewEndpoint = read_json(request, self.conventions.problems())?;
        self.register(body, held, |endpoint, secret| {
            let location = Location::of_path(["v1", "webhook-endpoints", endpoint.id.as_str()])?;
            let mut body = endpoint_json(endpoint, None);
            add_secret(&mut body, secret);
            Ok(respond_created(&location, json(StatusCode::OK, &body)))
        })
        .await
    }

    /// Registers an endpoint; `shown` makes the response, with the secret.
    pub(super) async fn register(
        &self,
        mut body: NewEndpoint,
        held: Option<HeldKey>,
        shown: impl FnOnce(&Endpoint, String) -> Handled,
    ) -> Completed {
        let url = self.destination(&body.url)?;
        let settings = body.take_settings(EndpointUpdate::new());
        let owner = match body.audience {
            Audience::Shop => shop(),
            Audience::Operator => Owner::Operator,
        };
        let signer = Signer::standard_webhooks(&SigningSecret::generate(&OsEntropy));
        let secret = signer.expose_text();
        let id = EndpointId::generate(&OsEntropy);
        let mut endpoint = Endpoint::register(id, owner, &url, signer, &self.addresses)
            .map_err(|error| self.address_refused(error.to_string()))?;
        endpoint.update(settings);
        let answer = Answer::unkept(shown(&endpoint, secret)?, held.as_ref());
        let effect = Effect::changed(Kind::Endpoint, &endpoint.id);
        let registered = self.desk.register_endpoint(endpoint, answer.settlement).await;
        match registered.map_err(|error| self.refused(error))? {
            (Inserted::Inserted, receipt) => {
                effect.record();
                Ok(Reply::completed(answer.response, receipt))
            }
            // a collision of 128 random bits; a retry draws others
            _ => Err(unavailable()),
        }
    }

    pub(super) async fn list_endpoints(&self, request: &Request<Bytes>, caller: &Caller) -> Handled {
        let binding = CursorBinding::new("/v1/webhook-endpoints", caller.subject()).with_sort("id");
        let asked = self.asked_page::<Place>(request, PageRules::default(), binding)?;
        let query = EndpointQuery {
            owner: None,
            after: asked.after().map(|place| place.0.clone()),
            limit: asked.limit().fetch(),
        };
        let store_failed = |error: webhook_core::ports::StoreError| self.refused(error.into());
        let ids = self
            .stores
            .endpoints
            .list_endpoints(&query)
            .await
            .map_err(store_failed)?;
        let mut endpoints = self
            .stores
            .endpoints
            .load_many(&ids)
            .await
            .map_err(store_failed)?;
        endpoints.sort_by(|one, other| one.id.cmp(&other.id));
        let page = asked.page(endpoints, |last| Place(last.id.clone()));
        shown(request, page, |endpoint| endpoint_json(endpoint, None))
    }

    pub(super) async fn read_endpoint(&self, id: &str) -> Handled {
        let endpoint = self.endpoint(id).await?;
        let lane = self.stores.outbox.lane(&endpoint.id).await;
        let lane = lane.map_err(|error| self.refused(error.into()))?;
        Ok(json(StatusCode::OK, &endpoint_json(&endpoint, lane.as_ref())))
    }

    /// Applies a JSON merge patch.
    pub(super) async fn change_endpoint(&self, request: &Request<Bytes>, id: &str) -> Handled {
        let mut changes: Changes = read_merge_patch(request, self.conventions.problems())?;
        let endpoint = self.endpoint(id).await?;
        let mut update = EndpointUpdate::new();
        if let Some(url) = &changes.url {
            let url = self.destination(url)?;
            update = update
                .with_url(&url, &self.addresses)
                .map_err(|error| self.address_refused(error.to_string()))?;
        }
        if let Some(state) = changes.state {
            update = update.with_state(state);
        }
        let update = changes.take_settings(update);
        match self.stores.endpoints.update(&endpoint.id, update).await {
            Ok(true) => {
                Effect::changed(Kind::Endpoint, id).record();
                self.read_endpoint(id).await
            }
            Ok(false) => Err(Problem::new(ErrorStatus::NOT_FOUND)),
            Err(error) => Err(self.refused(error.into())),
        }
    }

    pub(super) async fn delete_endpoint(&self, id: &str) -> Handled {
        let id: EndpointId = id.parse().map_err(|_| Problem::new(ErrorStatus::NOT_FOUND))?;
        match self.stores.endpoints.delete(&id).await {
            Ok(true) => {
                Effect::deleted(Kind::Endpoint, &id).record();
                let mut response = Response::new(Bytes::new());
                *response.status_mut() = StatusCode::NO_CONTENT;
                Ok(response)
            }
            Ok(false) => Err(Problem::new(ErrorStatus::NOT_FOUND)),
            Err(error) => Err(self.refused(error.into())),
        }
    }

    /// Responds with a new secret; the old one signs beside it for a day.
    pub(super) async fn rotate_secret(&self, id: &str, held: Option<HeldKey>) -> Completed {
        self.rotate(id, held, |endpoint, secret| {
            let mut body = endpoint_json(endpoint, None);
            add_secret(&mut body, secret);
            Ok(json(StatusCode::OK, &body))
        })
        .await
    }

    /// Rotates the secret; `shown` makes the response, with the new secret.
    pub(super) async fn rotate(
        &self,
        id: &str,
        held: Option<HeldKey>,
        shown: impl FnOnce(&Endpoint, String) -> Handled,
    ) -> Completed {
        let endpoint = self.endpoint(id).await?;
        let next = Signer::standard_webhooks(&SigningSecret::generate(&OsEntropy));
        let (secret, now) = (next.expose_text(), self.clock.now());
        let rotation = Rotation {
            next,
            now,
            overlap: Signers::OVERLAP,
        };
        let answer = Answer::unkept(shown(&endpoint, secret)?, held.as_ref());
        let rotated = self
            .desk
            .rotate_secret(endpoint.id.clone(), rotation, answer.settlement)
            .await;
        let receipt = match rotated.map_err(|error| self.refused(error))? {
            (Rotated::Rotated, receipt) => receipt,
            (Rotated::Refused, _) => {
                let detail = "the endpoint has eight secrets; wait until the overlap of one ends";
                return Err(Problem::new(ErrorStatus::CONFLICT).with_detail(detail));
            }
            _ => return Err(Problem::new(ErrorStatus::NOT_FOUND)),
        };
        Effect::changed(Kind::Endpoint, &endpoint.id).record();
        let event = OperationalEvent::SecretRotated {
            endpoint: endpoint.id,
        };
        if let Err(error) = self.dispatcher.announce(&event).await {
            // the secret is rotated nevertheless
            tracing::error!(
                error = program::in_one_line(&error),
                "the rotation cannot be announced"
            );
        }
        self.desk.event_notify().notify_one();
        Ok(Reply::completed(answer.response, receipt))
    }

    /// Responds 202 with the delivery of a test event to poll.
    pub(super) async fn send_test_event(&self, id: &str) -> Handled {
        let endpoint = self.endpoint(id).await?;
        let now = self.clock.now();
        let event_id = EventId::generate(&OsEntropy);
        let broken = || Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR);
        let (event_type, version) = (
            TEST.parse().map_err(|_| broken())?,
            "1".parse().map_err(|_| broken())?,
        );
        let object = value!({ "endpoint": endpoint.id.as_str() }).to_string();
        let event = Envelope::new(event_id.clone(), event_type, version, now, object.as_bytes());
        let sent = self
            .dispatcher
            .send_to(&endpoint, event.map_err(|_| broken())?, traced::current())
            .await;
        sent.map_err(|error| self.refused(error.into()))?;
        self.desk.event_notify().notify_one();
        let id = DeliveryId {
            event: event_id,
            endpoint: endpoint.id,
        };
        Effect::changed(Kind::Delivery, wire_id(&id)).record();
        let location = location_of(&id)?;
        let body = delivery_json(&Delivery::new(id, now), None);
        Ok(respond_accepted(&location, json(StatusCode::OK, &body)))
    }

    pub(super) async fn endpoint(&self, id: &str) -> Result<Endpoint, Problem> {
        let id: EndpointId = id.parse().map_err(|_| Problem::new(ErrorStatus::NOT_FOUND))?;
        match self.stores.endpoints.load(&id).await {
            Ok(found) => found.ok_or_else(|| Problem::new(ErrorStatus::NOT_FOUND)),
            Err(error) => Err(self.refused(error.into())),
        }
    }

    fn destination(&self, url: &str) -> Result<Destination, Problem> {
        url.parse()
            .map_err(|error: InvalidDestination| self.address_refused(error.to_string()))
    }

    fn address_refused(&self, detail: String) -> Problem {
        ADDRESS_REFUSED
            .problem(self.conventions.problems())
            .with_detail(detail)
    }
}

/// Body of an endpoint, without its secrets. Only the response to a GET of one endpoint has its
/// health.
fn endpoint_json(endpoint: &Endpoint, lane: Option<&Lane>) -> Value {
    let events = match &endpoint.events {
        EventFilter::Only(patterns) => Some(patterns.iter().map(EventPattern::as_str).collect::<Vec<_>>()),
        EventFilter::All => None,
    };
    let headers = endpoint
        .headers
        .iter()
        .map(|(name, _)| value!({ "name": name.as_str() }));
    value!({
        "id": endpoint.id.as_str(),
        "audience": if endpoint.owner == Owner::Operator { "operator" } else { "shop" },
        "url": endpoint.url.as_str(),
        "events": events,
        "state": endpoint.state.as_str(),
        "rate": endpoint.rate,
        "headers": headers.collect::<Vec<_>>(),
        "content": endpoint.content.as_str(),
        "classification": endpoint.classification.as_str(),
        "health": lane.map(health_json),
    })
}

fn health_json(lane: &Lane) -> Value {
    value!({
        "failing": lane.health.is_open(),
        "failures": lane.health.failures,
        "failing_since": lane.health.failing_since.map(seconds),
        "held_until": lane.held_until.map(|until| seconds(until) + 1),
        "concurrency": lane.health.limit,
    })
}

fn add_secret(body: &mut Value, secret: String) {
    if let Some(body) = body.as_object_mut() {
        body.insert("secret".to_owned(), secret.into());
    }
}

/// Position of an endpoint in the list, which is sorted by id.
struct Place(EndpointId);

impl Position for Place {
    fn to_values(&self) -> Vec<PositionValue> {
        self.0.as_str().to_owned().to_values()
    }

    fn from_values(values: Vec<PositionValue>) -> Option<Self> {
        String::from_values(values)?.parse().ok().map(Self)
    }
}

/// Words of the settings, for the OpenAPI document.
pub(super) fn words() -> (Vec<&'static str>, Vec<&'static str>) {
    let content = ContentMode::ALL.map(ContentMode::as_str).to_vec();
    let classification = Classification::ALL.map(Classification::as_str).to_vec();
    (content, classification)
}
