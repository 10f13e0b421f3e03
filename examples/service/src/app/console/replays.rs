//! `/console/replays`: replay of failed deliveries by filter, after a dry run.

use std::time::{Duration, SystemTime};

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use oauth_core::params::Params;
use webhook_core::sender::{
    DeliveryFilter, DeliveryId, DeliveryState, EndpointId, Page, Period, ReplayRequest, Replayed,
};

use super::super::browser::see_other;
use super::super::lists::query_parameter;
use super::super::webhook_deliveries::{delivery_id, wire_id};
use super::super::{App, Handled};
use super::calendar::{field, read_field};
use super::change::Refusal;
use super::deliveries::Row;
use super::{Frame, Ticket, Visitor, page};

/// Maximum number of deliveries of one replay.
const BOUND: usize = 10_000;
/// Number of deliveries that a dry run lists.
const LISTED: usize = 10;
/// Prefix of the parameters that lead from a replay to the next one of the same choice.
pub(super) const NEXT: &str = "next_";
/// States that can be chosen.
const FAILED: [DeliveryState; 2] = [DeliveryState::DeadLetter, DeliveryState::PermanentFailure];

#[derive(Template)]
#[template(path = "console/replays.html")]
struct ReplaysPage {
    frame: Frame,
    ticket: Ticket,
    /// Reason for which a confirmed replay sent nothing.
    refusal: Option<String>,
    choice: Choice,
    endpoints: Vec<(String, String)>,
    states: Vec<(&'static str, &'static str)>,
    found: Option<Found>,
}

/// Result of a dry run.
struct Found {
    count: u64,
    listed: u64,
    rows: Vec<Row>,
    /// End of the period: later events are not part of the replay that is confirmed.
    before: String,
    /// Others match behind these `count`.
    has_more: bool,
}

/// The fields of the form as they were sent.
#[derive(Default)]
pub(super) struct Choice {
    endpoint: String,
    state: String,
    from: String,
    before: String,
    /// Last delivery of the previous replay of this choice; empty for the first one.
    after: String,
    faults: Vec<&'static str>,
}

impl Choice {
    pub(super) fn of(field: impl Fn(&str) -> String) -> Self {
        let mut choice = Self {
            endpoint: field("endpoint"),
            state: field("state"),
            from: field("from"),
            before: field("before"),
            after: field("after"),
            faults: Vec::new(),
        };
        let is_time = |text: &str| text.is_empty() || read_field(text).is_some();
        let checks = [
            (
                "endpoint",
                choice.endpoint.is_empty() || choice.endpoint_id().is_some(),
            ),
            (
                "state",
                choice.state.is_empty() || choice.chosen_state().is_some(),
            ),
            ("from", is_time(&choice.from)),
            ("before", is_time(&choice.before)),
            ("after", choice.after.is_empty() || choice.last().is_some()),
        ];
        let wrong = checks.into_iter().filter(|(_, is_valid)| !is_valid);
        choice.faults = wrong.map(|(name, _)| name).collect();
        choice
    }

    fn has_fault(&self, name: &str) -> bool {
        self.faults.contains(&name)
    }

    fn endpoint_id(&self) -> Option<EndpointId> {
        self.endpoint.parse().ok()
    }

    fn chosen_state(&self) -> Option<DeliveryState> {
        FAILED.into_iter().find(|state| state.as_str() == self.state)
    }

    /// Last delivery of the previous replay.
    fn last(&self) -> Option<DeliveryId> {
        delivery_id(&self.after)
    }

    /// Path of the dry run of this choice. Returns `None` for a choice with faults.
    pub(super) fn dry_run_path(&self) -> Option<String> {
        let path = format!("/console/replays?run=dry{}", self.parameters(""));
        self.faults.is_empty().then_some(path)
    }

    /// The fields that are set as parameters of a query; each name begins with `prefix`.
    fn parameters(&self, prefix: &str) -> String {
        let fields = [
            ("endpoint", &self.endpoint),
            ("state", &self.state),
            ("from", &self.from),
            ("before", &self.before),
            ("after", &self.after),
        ];
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            parameters.append_pair(&format!("{prefix}{name}"), value);
        }
        let parameters = parameters.finish();
        match parameters.is_empty() {
            true => parameters,
            false => format!("&{parameters}"),
        }
    }

    /// The deliveries that the form selects. Returns `None` for a form with faults.
    fn filter(&self) -> Option<DeliveryFilter> {
        self.faults.is_empty().then(|| DeliveryFilter {
            endpoint: self.endpoint_id(),
            states: match self.chosen_state() {
                Some(state) => vec![state],
                None => FAILED.to_vec(),
            },
            created: Period {
                from: read_field(&self.from),
                before: read_field(&self.before),
            },
            ..DeliveryFilter::default()
        })
    }
}

impl App {
    /// Shows the form; after a dry run also the number of the selected deliveries and the first of
    /// them. Nothing is sent.
    pub(super) async fn show_replays(
        &self,
        request: &Request<Bytes>,
        visitor: &Visitor,
        refusal: Option<Refusal>,
    ) -> Handled {
        let choice = match &refusal {
            Some(refusal) => Choice::of(|name| refusal.typed(name).to_owned()),
            None => Choice::of(|name| query_parameter(request, name).unwrap_or_default()),
        };
        let is_asked = refusal.is_some() || query_parameter(request, "run").is_some();
        let found = match choice.filter() {
            Some(filter) if is_asked => Some(self.dry_run(filter, choice.last()).await?),
            _ => None,
        };
        let known = self.all_endpoints().await?;
        let hosts = self.hosts(known.iter().map(|endpoint| &endpoint.id)).await?;
        let replays = ReplaysPage {
            frame: self.frame("deliveries", visitor).await?,
            ticket: visitor.ticket(),
            refusal: refusal.map(|refusal| refusal.detail),
            choice,
            endpoints: hosts
                .into_iter()
                .map(|(id, host)| (id.to_string(), host))
                .collect(),
            states: FAILED
                .map(|state| (state.as_str(), super::state::Pill::of_delivery(state).word))
                .into(),
            found,
        };
        page(StatusCode::OK, &replays)
    }

    /// Counts the deliveries of the filter behind `after` and reads the first of them.
    async fn dry_run(&self, mut filter: DeliveryFilter, after: Option<DeliveryId>) -> Result<Found, Problem> {
        let before = *filter
            .created
            .before
            .get_or_insert_with(|| next_second(self.clock.now()));
        let replayed = self.replay_next(filter.clone(), after.clone(), true).await?;
        let Replayed { count, has_more, .. } = replayed;
        let limit = LISTED;
        let first = Page { after, limit };
        let rows = self.stores.outbox.list(&filter, &first).await;
        let rows = rows.map_err(|error| self.refused(error.into()))?;
        Ok(Found {
            count,
            listed: u64::try_from(rows.len()).unwrap_or(count),
            rows: self.delivery_rows(&rows).await?,
            before: field(before),
            has_more,
        })
    }

    /// Sends again what the form selects, at most [`BOUND`] deliveries, and leads to the
    /// deliveries. If others match, the page there has a link to the dry run of the next ones.
    ///
    /// # Errors
    ///
    /// - 422 for a form with faults
    /// - 503 if the store fails
    pub(super) async fn replays_from(&self, fields: &Params, visitor: &Visitor) -> Handled {
        let mut choice = Choice::of(|name| fields.optional(name).unwrap_or_default().to_owned());
        let refused =
            |detail: &str| Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT).with_detail(detail.to_owned());
        let filter = choice
            .filter()
            .ok_or_else(|| refused("A field of the form has an unknown value."))?;
        if choice.before.is_empty() {
            return Err(refused(
                "Look at what matches first: the page sets the end of the period.",
            ));
        }
        let replayed = self.replay_next(filter, choice.last(), false).await?;
        let Replayed {
            count,
            has_more,
            last,
        } = replayed;
        self.desk.event_notify().notify_one();
        let subject = &visitor.session.record.subject;
        tracing::info!(%subject, count, "deliveries replayed by filter");
        let others = match last.filter(|_| has_more) {
            Some(last) => {
                choice.after = wire_id(&last);
                choice.parameters(NEXT)
            }
            None => String::new(),
        };
        Ok(see_other(
            &format!("/console/deliveries?replayed={count}{others}"),
            None,
        ))
    }

    async fn replay_next(
        &self,
        filter: DeliveryFilter,
        after: Option<DeliveryId>,
        dry_run: bool,
    ) -> Result<Replayed, Problem> {
        let replay = ReplayRequest {
            filter,
            acknowledged: false,
            after,
            limit: BOUND,
            now: self.clock.now(),
            dry_run,
        };
        let replayed = self.stores.outbox.replay(&replay).await;
        replayed.map_err(|error| self.refused(error.into()))
    }
}

/// The first whole second after `now`, since events have whole seconds.
fn next_second(now: SystemTime) -> SystemTime {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs() + 1)
}
