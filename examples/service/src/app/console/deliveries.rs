//! `/console/deliveries`: deliveries, their attempts, and replay.

use std::time::{Duration, SystemTime};

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::Problem;
use http_conventions::paging::{CursorBinding, PageRules};
use webhook_core::sender::{
    Attempt, AttemptResult, ContentMode, Delivery, DeliveryFilter, DeliveryState, Endpoint, EndpointId,
};

use super::super::browser::see_other;
use super::super::lists::query_parameter;
use super::super::problem::unavailable;
use super::super::webhook_deliveries::{Place as Position, wire_id};
use super::super::{App, Handled};
use super::charges::Tab;
use super::chart::share;
use super::endpoints::{attempts_of, delivery_behind};
use super::pager::Pager;
use super::replays::{Choice, NEXT};
use super::state::Pill;
use super::text::{lasting, lately, short, took};
use super::{Frame, Ticket, Visitor, page};
use crate::wire::seconds;

#[derive(Template)]
#[template(path = "console/deliveries.html")]
struct DeliveriesPage {
    frame: Frame,
    tabs: Vec<Tab>,
    state: &'static str,
    endpoint: String,
    endpoints: Vec<(String, String)>,
    rows: Vec<Row>,
    pager: Pager,
    /// Number of deliveries of the replay that led here.
    replayed: Option<u64>,
    /// Path of the dry run of the next deliveries, if the replay left out some that match.
    next_replay: Option<String>,
}

/// Row of a list of deliveries.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) event_type: String,
    pub(super) pill: Pill,
    pub(super) host: String,
    pub(super) attempts: String,
    pub(super) next: String,
}

#[derive(Template)]
#[template(path = "console/delivery.html")]
struct DeliveryPage {
    frame: Frame,
    ticket: Ticket,
    row: Row,
    endpoint: String,
    event: String,
    event_at: Option<String>,
    reason: Option<String>,
    can_replay: bool,
    attempts: Vec<AttemptShown>,
    body: String,
    notice: bool,
}

struct AttemptShown {
    number: usize,
    /// Head of the request; `None` once the endpoint is deleted.
    request: Option<Sent>,
    /// Share of the longest attempt, in percent.
    share: u64,
    pill: Pill,
    status: String,
    says: String,
    at: String,
    took: String,
    answer: String,
}

/// Head of the request of an attempt, from its stored parts.
struct Sent {
    url: String,
    content_type: &'static str,
    timestamp: u64,
}

impl Sent {
    fn of(endpoint: &Endpoint, attempt: &Attempt) -> Self {
        Self {
            url: endpoint.url.as_str().to_owned(),
            content_type: match endpoint.content {
                ContentMode::CloudEventsStructured => "application/cloudevents+json",
                _ => "application/json",
            },
            timestamp: seconds(attempt.started_at),
        }
    }
}

impl App {
    pub(super) async fn show_deliveries(&self, request: &Request<Bytes>, visitor: &Visitor) -> Handled {
        let state = query_parameter(request, "state").and_then(|word| word.parse::<DeliveryState>().ok());
        let endpoint = query_parameter(request, "endpoint").and_then(|id| id.parse::<EndpointId>().ok());
        let word = state.map_or("", DeliveryState::as_str);
        let of_endpoint = endpoint.as_ref().map(ToString::to_string).unwrap_or_default();
        let binding = CursorBinding::new("/console/deliveries", &visitor.user.subject)
            .with_sort("id")
            .with_filter("state", word)
            .with_filter("endpoint", &of_endpoint);
        let asked = self.asked_page::<Position>(request, PageRules::default(), binding)?;
        let filter = DeliveryFilter {
            states: state.into_iter().collect(),
            endpoint,
            ..DeliveryFilter::default()
        };
        let wanted = webhook_core::sender::Page {
            after: asked.after().map(|place| place.0.clone()),
            limit: asked.limit().fetch(),
        };
        let rows = self.stores.outbox.list(&filter, &wanted).await;
        let rows = rows.map_err(|error| self.refused(error.into()))?;
        let found = asked
            .page(rows, |last| Position(last.id.clone()))
            .map_err(|_| unavailable())?;
        let filters = [("state", word), ("endpoint", of_endpoint.as_str())];
        let known = self.all_endpoints().await?;
        let hosts = self.hosts(known.iter().map(|endpoint| &endpoint.id)).await?;
        let deliveries = DeliveriesPage {
            frame: self.frame("deliveries", visitor).await?,
            tabs: self.delivery_tabs(state).await?,
            state: word,
            endpoints: hosts
                .into_iter()
                .map(|(id, host)| (id.to_string(), host))
                .collect(),
            rows: self.delivery_rows(found.data()).await?,
            pager: Pager::of("/console/deliveries", &filters, &found),
            endpoint: of_endpoint,
            replayed: query_parameter(request, "replayed").and_then(|count| count.parse().ok()),
            next_replay: next_replay(request),
        };
        page(StatusCode::OK, &deliveries)
    }

    pub(super) async fn show_delivery(
        &self,
        request: &Request<Bytes>,
        id: &str,
        visitor: &Visitor,
    ) -> Handled {
        let delivery = self.delivery(id).await?;
        let attempts = self.stores.outbox.attempts(&delivery.id).await;
        let attempts = attempts.map_err(|error| self.refused(error.into()))?;
        let event = self.desk.event(delivery.id.event.to_string()).await;
        let event = event.map_err(|error| self.refused(error))?;
        let row = self.delivery_rows(std::slice::from_ref(&delivery)).await?.pop();
        let endpoint = self.stores.endpoints.load(&delivery.id.endpoint).await;
        let endpoint = endpoint.map_err(|error| self.refused(error.into()))?;
        let now = self.clock.now();
        let micros = |attempt: &Attempt| u64::try_from(attempt.duration.as_micros()).unwrap_or(u64::MAX);
        let longest = attempts.iter().map(micros).max().unwrap_or(0);
        let shown = attempts.iter().zip(1..).map(|(attempt, number)| {
            let (pill, status, says, answer) = result_of(&attempt.result);
            AttemptShown {
                number,
                request: endpoint.as_ref().map(|endpoint| Sent::of(endpoint, attempt)),
                share: share(micros(attempt), longest),
                pill,
                status,
                says,
                at: lately(attempt.started_at, now),
                took: took(attempt.duration),
                answer,
            }
        });
        let mut shown: Vec<AttemptShown> = shown.collect();
        shown.reverse();
        let page_of = DeliveryPage {
            frame: self.frame("deliveries", visitor).await?,
            ticket: visitor.ticket(),
            row: row.ok_or_else(unavailable)?,
            endpoint: delivery.id.endpoint.to_string(),
            event: delivery.id.event.to_string(),
            event_at: event.as_ref().map(|event| lately(event.created_at, now)),
            reason: delivery.reason.map(|reason| reason.as_str().replace('_', " ")),
            can_replay: matches!(
                delivery.state,
                DeliveryState::PermanentFailure | DeliveryState::DeadLetter
            ),
            attempts: shown,
            body: event
                .map(|event| String::from_utf8_lossy(&event.body).into_owned())
                .unwrap_or_default(),
            notice: query_parameter(request, "notice").is_some(),
        };
        page(StatusCode::OK, &page_of)
    }

    /// Sends a failed delivery again.
    pub(super) async fn replay_from(&self, id: &str) -> Handled {
        let sent = self.replay_delivery(id).await?;
        Ok(see_other(
            &format!("{}?notice=replay", delivery_behind(&sent)),
            None,
        ))
    }

    pub(super) async fn delivery_rows(&self, deliveries: &[Delivery]) -> Result<Vec<Row>, Problem> {
        let hosts = self
            .hosts(deliveries.iter().map(|delivery| &delivery.id.endpoint))
            .await?;
        let now = self.clock.now();
        let mut rows = Vec::with_capacity(deliveries.len());
        for delivery in deliveries {
            let event = self.desk.event(delivery.id.event.to_string()).await;
            let event = event.map_err(|error| self.refused(error))?;
            let host = hosts.get(&delivery.id.endpoint).cloned();
            let wait = wait_of(delivery, now);
            rows.push(Row {
                id: wire_id(&delivery.id),
                event: short(delivery.id.event.as_str()),
                event_type: event.map_or_else(|| "deleted event".to_owned(), |event| event.event_type),
                pill: Pill::of_delivery(delivery.state),
                host: host.unwrap_or_else(|| "deleted endpoint".to_owned()),
                attempts: attempts_of(delivery),
                next: match delivery.state.is_live() {
                    true if wait.is_zero() => "now".to_owned(),
                    true => format!("in {}", lasting(wait)),
                    false => "–".to_owned(),
                },
            });
        }
        Ok(rows)
    }

    async fn delivery_tabs(&self, chosen: Option<DeliveryState>) -> Result<Vec<Tab>, Problem> {
        let counts = self.desk.deliveries_by_state().await;
        let counts = counts.map_err(|error| self.refused(error))?;
        let word = chosen.map_or("", DeliveryState::as_str);
        let choices = DeliveryState::ALL.map(|state| (state.as_str(), Pill::of_delivery(state).word));
        Ok(Tab::all("/console/deliveries?state=", &choices, &counts, word))
    }
}

/// Path of the dry run that continues the replay that led here.
fn next_replay(request: &Request<Bytes>) -> Option<String> {
    let next = |name: &str| query_parameter(request, &format!("{NEXT}{name}")).unwrap_or_default();
    let is_continued = !next("after").is_empty();
    Choice::of(next).dry_run_path().filter(|_| is_continued)
}

/// Time until a live delivery is sent. One that is being sent is due at the end of its lease,
/// which can be the year 2200.
pub(super) fn wait_of(delivery: &Delivery, now: SystemTime) -> Duration {
    match delivery.state {
        DeliveryState::Leased => Duration::ZERO,
        _ => delivery.due_at.duration_since(now).unwrap_or_default(),
    }
}

/// Pill, status, sentence and answer of an attempt.
fn result_of(result: &AttemptResult) -> (Pill, String, String, String) {
    match result {
        AttemptResult::Answered { status, body } => {
            let reason = status.canonical_reason().unwrap_or("Unknown status");
            let pill = if status.is_success() {
                Pill::ANSWERED
            } else {
                Pill::NOT_ACKNOWLEDGED
            };
            (
                pill,
                format!("{} {reason}", status.as_u16()),
                format!("{reason}, {} bytes kept of the answer", body.len()),
                String::from_utf8_lossy(body).into_owned(),
            )
        }
        AttemptResult::Failed { kind, message } => (
            Pill::NO_ANSWER,
            String::new(),
            kind.as_str().replace('_', " "),
            message.clone(),
        ),
    }
}
