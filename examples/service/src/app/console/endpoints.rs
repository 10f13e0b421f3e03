//! `/console/endpoints`: registers, tests, changes, pauses and deletes webhook endpoints.

use std::collections::BTreeMap;

use askama::Template;
use bytes::Bytes;
use http::header::LOCATION;
use http::{Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::idempotency::HeldKey;
use oauth_core::params::Params;
use serde_json::json;
use webhook_core::sender::{
    Delivery, DeliveryFilter, Endpoint, EndpointId, EndpointQuery, EndpointState, EventFilter, EventPattern,
    Owner, Page,
};

use super::super::body::{READER, to_json};
use super::super::browser::see_other;
use super::super::endpoint_bodies::NewEndpoint;
use super::super::lists::query_parameter;
use super::super::{App, Completed, Handled};
use super::change::Refusal;
use super::deliveries::Row;
use super::health::Health;
use super::place::EndpointForm;
use super::state::Pill;
use super::text::{moment, short};
use super::{Frame, Ticket, Visitor, page};

/// Event types of the desk.
const TYPES: [&str; 2] = ["charge.created", "charge.refunded"];

#[derive(Template)]
#[template(path = "console/endpoints.html")]
struct EndpointsPage {
    frame: Frame,
    ticket: Ticket,
    refusal: Option<Refusal>,
    types: &'static [&'static str],
    rows: Vec<EndpointRow>,
}

struct EndpointRow {
    id: String,
    host: String,
    url: String,
    pill: Pill,
    events: String,
    failures: u32,
}

#[derive(Template)]
#[template(path = "console/endpoint.html")]
struct EndpointPage {
    frame: Frame,
    /// One for each form.
    tickets: [Ticket; 5],
    refusal: Option<Refusal>,
    notice: Option<&'static str>,
    id: String,
    host: String,
    url: String,
    pill: Pill,
    events: String,
    types: Vec<Choice>,
    /// The filter has patterns that the form cannot show.
    has_patterns: bool,
    is_enabled: bool,
    failing_since: Option<String>,
    failures: u32,
    secrets: Vec<Option<String>>,
    deliveries: Vec<Row>,
    dead: usize,
    health: Option<Health>,
}

struct Choice {
    name: &'static str,
    is_chosen: bool,
}

/// Page with a secret, which is shown once.
#[derive(Template)]
#[template(path = "console/secret.html")]
struct SecretPage {
    frame: Frame,
    id: String,
    host: String,
    secret: String,
    is_new: bool,
}

impl App {
    pub(super) async fn show_endpoints(&self, visitor: &Visitor, refusal: Option<Refusal>) -> Handled {
        let mut rows = Vec::new();
        for endpoint in self.all_endpoints().await? {
            let lane = self.stores.outbox.lane(&endpoint.id).await;
            let lane = lane.map_err(|error| self.refused(error.into()))?;
            let failing = lane.as_ref().is_some_and(|lane| lane.health.is_open());
            rows.push(EndpointRow {
                id: endpoint.id.to_string(),
                host: host_of(&endpoint),
                url: endpoint.url.as_str().to_owned(),
                pill: Pill::of_endpoint(endpoint.state, failing),
                events: events_of(&endpoint),
                failures: lane.map_or(0, |lane| lane.health.failures),
            });
        }
        let endpoints = EndpointsPage {
            frame: self.frame("endpoints", visitor).await?,
            ticket: visitor.ticket(),
            refusal,
            types: &TYPES,
            rows,
        };
        page(StatusCode::OK, &endpoints)
    }

    pub(super) async fn show_endpoint(
        &self,
        request: &Request<Bytes>,
        id: &str,
        visitor: &Visitor,
        refusal: Option<Refusal>,
    ) -> Handled {
        let endpoint = self.endpoint(id).await?;
        let failed = |error: webhook_core::ports::StoreError| self.refused(error.into());
        let lane = self.stores.outbox.lane(&endpoint.id).await.map_err(failed)?;
        let filter = DeliveryFilter {
            endpoint: Some(endpoint.id.clone()),
            ..DeliveryFilter::default()
        };
        let recent = Page {
            after: None,
            limit: 10,
        };
        let deliveries = self.stores.outbox.list(&filter, &recent).await.map_err(failed)?;
        let dead = DeliveryFilter {
            endpoint: Some(endpoint.id.clone()),
            ..DeliveryFilter::failed()
        };
        let dead = self
            .stores
            .outbox
            .list(&dead, &Page::default())
            .await
            .map_err(failed)?;
        let health = lane.as_ref().map(|lane| &lane.health);
        let chosen = |name: &str| match &endpoint.events {
            EventFilter::All => true,
            EventFilter::Only(patterns) => patterns.iter().any(|pattern| pattern.as_str() == name),
        };
        let has_patterns = match &endpoint.events {
            EventFilter::All => false,
            EventFilter::Only(patterns) => patterns.iter().any(|pattern| !TYPES.contains(&pattern.as_str())),
        };
        let signers = endpoint.signers.iter();
        let shown = EndpointPage {
            frame: self.frame("endpoints", visitor).await?,
            tickets: std::array::from_fn(|_| visitor.ticket()),
            refusal,
            notice: query_parameter(request, "notice").and_then(|notice| notice_of(&notice)),
            id: endpoint.id.to_string(),
            host: host_of(&endpoint),
            url: endpoint.url.as_str().to_owned(),
            pill: Pill::of_endpoint(endpoint.state, health.is_some_and(|health| health.is_open())),
            events: events_of(&endpoint),
            types: TYPES
                .map(|name| Choice {
                    name,
                    is_chosen: chosen(name),
                })
                .into(),
            has_patterns,
            is_enabled: endpoint.state == EndpointState::Enabled,
            failing_since: health.and_then(|health| health.failing_since).map(moment),
            failures: health.map_or(0, |health| health.failures),
            secrets: signers.map(|active| active.not_after.map(moment)).collect(),
            deliveries: self.delivery_rows(&deliveries).await?,
            dead: dead.len(),
            health: self.health(&endpoint.id).await?,
        };
        page(StatusCode::OK, &shown)
    }

    /// Registers the endpoint of a form; responds with its secret.
    pub(super) async fn endpoint_from(
        &self,
        fields: &Params,
        visitor: &Visitor,
        held: Option<HeldKey>,
    ) -> Completed {
        let url = fields.optional("url").unwrap_or_default().trim();
        let mut body = json!({ "url": url });
        let events: Vec<&str> = fields.all("events").collect();
        if let (false, Some(body)) = (events.is_empty(), body.as_object_mut()) {
            body.insert("events".to_owned(), json!(events));
        }
        // the API's reader, so that the faults are those of the API
        let read = READER.read_bytes::<NewEndpoint>(&to_json(&body));
        let body = read.map_err(|invalid| invalid.problem(self.conventions.problems()))?;
        let frame = self.frame("endpoints", visitor).await?;
        self.register(body, held, |endpoint, secret| {
            secret_page(frame, endpoint, secret, true)
        })
        .await
    }

    /// Rotates the secret; responds with the new one.
    pub(super) async fn rotate_from(&self, id: &str, visitor: &Visitor, held: Option<HeldKey>) -> Completed {
        let frame = self.frame("endpoints", visitor).await?;
        self.rotate(id, held, |endpoint, secret| {
            secret_page(frame, endpoint, secret, false)
        })
        .await
    }

    pub(super) async fn endpoint_form(&self, id: &str, form: EndpointForm, fields: &Params) -> Handled {
        let back = |notice: &str| see_other(&format!("/console/endpoints/{id}?notice={notice}"), None);
        match form {
            EndpointForm::Test => {
                let sent = self.send_test_event(id).await?;
                Ok(see_other(&delivery_behind(&sent), None))
            }
            EndpointForm::Settings => {
                let url = fields.optional("url").unwrap_or_default().trim();
                let mut patch = json!({ "url": url });
                let events: Vec<&str> = fields.all("events").collect();
                if let (false, Some(patch)) = (events.is_empty(), patch.as_object_mut()) {
                    // a filter that the form cannot show stays
                    patch.insert("events".to_owned(), json!(events));
                }
                self.change_endpoint(&merge_patch(&patch)?, id).await?;
                Ok(back("saved"))
            }
            EndpointForm::State => {
                let state = fields.optional("state").unwrap_or_default();
                let patch = merge_patch(&json!({ "state": state }))?;
                self.change_endpoint(&patch, id).await?;
                Ok(back(state))
            }
            EndpointForm::Delete => {
                self.delete_endpoint(id).await?;
                Ok(see_other("/console/endpoints", None))
            }
            EndpointForm::Rotate => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }

    /// Endpoints of every owner: the first hundred.
    pub(super) async fn all_endpoints(&self) -> Result<Vec<Endpoint>, Problem> {
        let failed = |error: webhook_core::ports::StoreError| self.refused(error.into());
        let query = EndpointQuery {
            owner: None,
            after: None,
            limit: 100,
        };
        let ids = self
            .stores
            .endpoints
            .list_endpoints(&query)
            .await
            .map_err(failed)?;
        let mut endpoints = self.stores.endpoints.load_many(&ids).await.map_err(failed)?;
        endpoints.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(endpoints)
    }

    /// Hosts of endpoints that still exist.
    pub(super) async fn hosts(
        &self,
        ids: impl Iterator<Item = &EndpointId>,
    ) -> Result<BTreeMap<EndpointId, String>, Problem> {
        let mut ids: Vec<EndpointId> = ids.cloned().collect();
        ids.sort();
        ids.dedup();
        let endpoints = self.stores.endpoints.load_many(&ids).await;
        let endpoints = endpoints.map_err(|error| self.refused(error.into()))?;
        let hosts = endpoints
            .iter()
            .map(|endpoint| (endpoint.id.clone(), host_of(endpoint)));
        Ok(hosts.collect())
    }
}

fn secret_page(frame: Frame, endpoint: &Endpoint, secret: String, is_new: bool) -> Handled {
    let shown = SecretPage {
        frame,
        id: endpoint.id.to_string(),
        host: host_of(endpoint),
        secret,
        is_new,
    };
    page(StatusCode::OK, &shown)
}

/// Page of the delivery that a response of the API names.
pub(super) fn delivery_behind(response: &Response<Bytes>) -> String {
    let location = response
        .headers()
        .get(LOCATION)
        .and_then(|location| location.to_str().ok());
    let id = location.and_then(|location| location.rsplit('/').next());
    format!("/console/deliveries/{}", id.unwrap_or_default())
}

/// A merge patch, as the API takes it.
fn merge_patch(patch: &serde_json::Value) -> Result<Request<Bytes>, Problem> {
    Request::patch("/")
        .header("content-type", "application/merge-patch+json")
        .body(patch.to_string().into())
        .map_err(|_| Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))
}

fn host_of(endpoint: &Endpoint) -> String {
    let url = url::Url::parse(endpoint.url.as_str()).ok();
    let host = url.as_ref().and_then(|url| {
        let host = url.host_str()?;
        Some(
            url.port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        )
    });
    host.unwrap_or_else(|| short(endpoint.id.as_str()))
}

fn events_of(endpoint: &Endpoint) -> String {
    let about = if endpoint.owner == Owner::Operator {
        "operational"
    } else {
        "all"
    };
    match &endpoint.events {
        EventFilter::All => format!("{about} events"),
        EventFilter::Only(patterns) => {
            let patterns: Vec<_> = patterns.iter().map(EventPattern::as_str).collect();
            patterns.join(", ")
        }
    }
}

fn notice_of(notice: &str) -> Option<&'static str> {
    match notice {
        "saved" => Some("The settings are saved. Deliveries that wait go to the new address."),
        "paused" => Some("Deliveries are paused. They wait here until you resume them."),
        "enabled" => Some("Deliveries are resumed."),
        _ => None,
    }
}

/// Attempts of a delivery that count, as text.
pub(super) fn attempts_of(delivery: &Delivery) -> String {
    delivery.attempts.to_string()
}
