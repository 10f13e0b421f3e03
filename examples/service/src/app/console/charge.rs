//! `/console/charges/{id}`: one charge, what happened to it, and its refund.

use std::time::SystemTime;

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::Problem;
use http_conventions::idempotency::{HeldKey, Reply};
use oauth_core::params::Params;
use webhook_core::sender::{AttemptResult, Delivery, DeliveryFilter, Page};

use super::super::browser::see_other;
use super::super::lists::query_parameter;
use super::super::webhook_deliveries::wire_id;
use super::super::{Answer, App, Completed, Handled};
use super::change::Refusal;
use super::charges::what_for;
use super::deliveries::wait_of;
use super::state::Pill;
use super::text::{clock, date, lasting, moment, money, plain, short, took, typed};
use super::{Frame, Ticket, Visitor, page};
use crate::desk::{EventSeen, Order, Window};
use crate::domain::{Charge, ChargeId, NewRefund};
use crate::wire::ChargeBody;

#[derive(Template)]
#[template(path = "console/charge.html")]
struct ChargePage {
    frame: Frame,
    ticket: Ticket,
    refusal: Option<Refusal>,
    notice: bool,
    charge: Charge,
    what: String,
    customer: Option<String>,
    amount: String,
    refunded: String,
    left: String,
    left_plain: String,
    pill: Pill,
    created: String,
    json: String,
    story: Vec<Entry>,
}

/// Entry of a timeline.
struct Entry {
    at: SystemTime,
    /// Time as text; "now" for what has not happened yet.
    when: String,
    class: &'static str,
    title: String,
    pill: Option<Pill>,
    /// Page behind the entry; empty without one.
    path: String,
    link: String,
    text: String,
}

impl Entry {
    fn new(at: SystemTime, class: &'static str, title: impl Into<String>) -> Self {
        Self {
            at,
            when: clock(at),
            class,
            title: title.into(),
            pill: None,
            path: String::new(),
            link: String::new(),
            text: String::new(),
        }
    }

    fn with_link(mut self, path: String, link: impl Into<String>) -> Self {
        self.path = path;
        self.link = link.into();
        self
    }

    fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    const fn with_pill(mut self, pill: Pill) -> Self {
        self.pill = Some(pill);
        self
    }
}

impl App {
    pub(super) async fn show_charge(
        &self,
        request: &Request<Bytes>,
        id: &ChargeId,
        visitor: &Visitor,
        refusal: Option<Refusal>,
    ) -> Handled {
        let charge = self
            .desk
            .charge(id.clone())
            .await
            .map_err(|error| self.refused(error))?;
        let customer = match &charge.customer {
            Some(id) => {
                let customer = self.desk.customer(id.clone()).await;
                Some(customer.map_err(|error| self.refused(error))?.name)
            }
            None => None,
        };
        let currency = charge.currency.as_str();
        let json = serde_json::to_string_pretty(&ChargeBody::of(&charge)).unwrap_or_default();
        let shown = ChargePage {
            frame: self.frame("charges", visitor).await?,
            ticket: visitor.ticket(),
            refusal,
            notice: query_parameter(request, "notice").is_some(),
            what: what_for(&charge),
            customer,
            amount: money(charge.amount.units().into(), currency),
            refunded: money(charge.amount_refunded.into(), currency),
            left: money(charge.refundable().into(), currency),
            left_plain: plain(charge.refundable().into(), currency),
            pill: Pill::of_charge(charge.status()),
            created: moment(charge.created),
            json,
            story: self.story(&charge).await?,
            charge,
        };
        page(StatusCode::OK, &shown)
    }

    /// Requests a refund and leads back to the charge. The refund is booked later.
    pub(super) async fn refund_from(
        &self,
        id: ChargeId,
        fields: &Params,
        held: Option<HeldKey>,
    ) -> Completed {
        let charge = self
            .desk
            .charge(id.clone())
            .await
            .map_err(|error| self.refused(error))?;
        let amount = fields.optional("amount").unwrap_or_default();
        let body = NewRefund {
            // no amount: the refusal of the desk names the field
            amount: Some(typed(amount, charge.currency.as_str()).unwrap_or(0)),
        };
        let next = see_other(&format!("/console/charges/{id}?notice=refund"), None);
        let refund = self.desk.new_refund(id, body).await;
        let refund = refund.map_err(|error| self.refused(error))?;
        let answer = Answer::new(next, held.as_ref());
        let queued = self
            .desk_in_trace()
            .insert_refund(refund, answer.settlement)
            .await;
        let receipt = queued.map_err(|error| self.refused(error))?;
        Ok(Reply::completed(answer.response, receipt))
    }

    /// Events of a charge, oldest first, as far as they are kept.
    async fn story(&self, charge: &Charge) -> Result<Vec<Entry>, Problem> {
        let mut story = vec![
            Entry::new(charge.created, "good", "Charge created").with_text(format!(
                "{} on {}.",
                money(charge.amount.units().into(), charge.currency.as_str()),
                date(charge.created)
            )),
        ];
        story.extend(self.requests_about(charge));
        story.extend(self.refunds_of(charge).await?);
        let events = self.desk.events_of(charge.id.clone(), charge.created).await;
        for event in events.map_err(|error| self.refused(error))? {
            let recorded = Entry::new(
                event.created_at,
                "",
                format!("Event {} recorded", event.event_type),
            );
            story.push(recorded.with_text(format!(
                "{}, in the transaction that changed the charge.",
                short(&event.id)
            )));
            story.extend(self.deliveries_of(&event).await?);
        }
        story.sort_by_key(|entry| (entry.when == "now", entry.at));
        Ok(story)
    }

    /// Changes among the kept requests that name the charge.
    fn requests_about(&self, charge: &Charge) -> Vec<Entry> {
        let id = charge.id.as_str();
        let all = self.console_state.traffic.all();
        let about = all.iter().filter(|seen| {
            !seen.method.is_safe() && (seen.path().contains(id) || seen.answer.content.contains(id))
        });
        let entries = about.map(|seen| {
            let class = if seen.status.is_success() { "good" } else { "warn" };
            let entry = Entry::new(
                seen.at,
                class,
                format!("Request answered {}", seen.status.as_u16()),
            )
            .with_link(
                format!("/console/requests/{}", seen.id),
                format!("{} {}", seen.method, seen.path()),
            )
            .with_text(format!("answered in {}.", took(seen.took)));
            match seen.is_replay {
                true => entry.with_pill(Pill::REPLAYED),
                false => entry,
            }
        });
        entries.collect()
    }

    async fn refunds_of(&self, charge: &Charge) -> Result<Vec<Entry>, Problem> {
        let window = Window {
            from: None,
            order: Order::OldestFirst,
            limit: 50,
        };
        let refunds = self.desk.refunds(charge.id.clone(), window).await;
        let refunds = refunds.map_err(|error| self.refused(error))?;
        let entries = refunds.iter().map(|placed| {
            let refund = &placed.row;
            let amount = money(refund.amount.units().into(), charge.currency.as_str());
            let pill = Pill::of_refund(refund.status);
            Entry::new(
                refund.created,
                pill.class,
                format!("Refund of {amount} requested"),
            )
            .with_pill(pill)
            .with_link(
                format!("/console/refunds?about={}", refund.id),
                short(refund.id.as_str()),
            )
        });
        Ok(entries.collect())
    }

    /// Attempts to deliver an event, and what comes next.
    async fn deliveries_of(&self, event: &EventSeen) -> Result<Vec<Entry>, Problem> {
        let filter = DeliveryFilter {
            event: event.id.parse().ok(),
            ..DeliveryFilter::default()
        };
        let failed = |error: webhook_core::ports::StoreError| self.refused(error.into());
        let deliveries = self
            .stores
            .outbox
            .list(&filter, &Page::default())
            .await
            .map_err(failed)?;
        let hosts = self
            .hosts(deliveries.iter().map(|delivery| &delivery.id.endpoint))
            .await?;
        let mut entries = Vec::new();
        for delivery in &deliveries {
            let host = hosts
                .get(&delivery.id.endpoint)
                .map_or("a deleted endpoint", String::as_str);
            let path = format!("/console/deliveries/{}", wire_id(&delivery.id));
            let attempts = self.stores.outbox.attempts(&delivery.id).await.map_err(failed)?;
            entries.extend(attempts.iter().map(|attempt| {
                let (class, title, text) = match &attempt.result {
                    AttemptResult::Answered { status, .. } if status.is_success() => (
                        "good",
                        format!("Delivered to {host}"),
                        format!("answered {} in {}.", status.as_u16(), took(attempt.duration)),
                    ),
                    AttemptResult::Answered { status, .. } => (
                        "warn",
                        format!("Not acknowledged by {host}"),
                        format!("answered {} in {}.", status.as_u16(), took(attempt.duration)),
                    ),
                    AttemptResult::Failed { kind, .. } => (
                        "warn",
                        format!("No answer from {host}"),
                        format!(
                            "ended after {}: {}.",
                            took(attempt.duration),
                            kind.as_str().replace('_', " ")
                        ),
                    ),
                };
                Entry::new(attempt.started_at, class, title)
                    .with_link(path.clone(), "The attempt")
                    .with_text(text)
            }));
            entries.extend(self.next_step(delivery, host, path));
        }
        Ok(entries)
    }

    fn next_step(&self, delivery: &Delivery, host: &str, path: String) -> Option<Entry> {
        let pill = Pill::of_delivery(delivery.state);
        let now = self.clock.now();
        let (title, text) = if delivery.state.is_live() {
            let wait = wait_of(delivery, now);
            (
                format!("Waiting for {host}"),
                format!("is due in {}.", lasting(wait)),
            )
        } else if delivery.state == webhook_core::sender::DeliveryState::Acked {
            return None;
        } else {
            (
                format!("{host} does not have the event"),
                "can be sent again.".to_owned(),
            )
        };
        let mut entry = Entry::new(now, pill.class, title)
            .with_pill(pill)
            .with_link(path, "The delivery")
            .with_text(text);
        entry.when = "now".to_owned();
        Some(entry)
    }
}
