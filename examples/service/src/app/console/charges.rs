//! `/console/charges`: the list of charges, and the form for a new one.

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::idempotency::{HeldKey, Reply};
use http_conventions::paging::CursorBinding;
use oauth_core::params::Params;

use super::super::browser::see_other;
use super::super::lists::{query_parameter, rules_of_desk, window};
use super::super::{Answer, App, Completed, Handled};
use super::change::Refusal;
use super::pager::Pager;
use super::state::Pill;
use super::text::{lately, money, short, typed};
use super::{Frame, Ticket, Visitor, page};
use crate::desk::{ChargeFilter, Placed};
use crate::domain::{Charge, ChargeStatus, CustomerId, NewCharge};

#[derive(Template)]
#[template(path = "console/charges.html")]
struct ChargesPage {
    frame: Frame,
    ticket: Ticket,
    refusal: Option<Refusal>,
    tabs: Vec<Tab>,
    status: String,
    customer: String,
    customer_fault: bool,
    rows: Vec<Row>,
    pager: Pager,
}

/// A choice above a list.
pub(super) struct Tab {
    pub(super) path: String,
    pub(super) name: &'static str,
    pub(super) count: Option<u64>,
    pub(super) is_chosen: bool,
}

impl Tab {
    /// "All" and one tab for each choice: its word in the address and its name. `path` ends with
    /// the parameter of the choice.
    pub(super) fn all(
        path: &str,
        choices: &[(&'static str, &'static str)],
        counts: &[(String, u64)],
        chosen: &str,
    ) -> Vec<Self> {
        let count = |word: &str| {
            let found = counts.iter().find(|(name, _)| name == word);
            found.map_or(0, |(_, count)| *count)
        };
        let mut tabs = vec![Self {
            path: path.split('?').next().unwrap_or_default().to_owned(),
            name: "All",
            count: Some(counts.iter().map(|(_, count)| count).sum()),
            is_chosen: chosen.is_empty(),
        }];
        tabs.extend(choices.iter().map(|(word, name)| Self {
            path: format!("{path}{word}"),
            name,
            count: Some(count(word)),
            is_chosen: *word == chosen,
        }));
        tabs
    }
}

struct Row {
    id: String,
    short_id: String,
    what: String,
    amount: String,
    pill: Pill,
    customer: Option<String>,
    refunded: Option<String>,
    created: String,
}

impl App {
    pub(super) async fn show_charges(
        &self,
        request: &Request<Bytes>,
        visitor: &Visitor,
        refusal: Option<Refusal>,
    ) -> Handled {
        let status = query_parameter(request, "status").and_then(|word| ChargeStatus::parse(&word));
        let customer = query_parameter(request, "customer").unwrap_or_default();
        let wanted: Option<CustomerId> = customer.trim().parse().ok();
        let customer_fault = !customer.is_empty() && wanted.is_none();
        let word = status.map_or("", ChargeStatus::as_str);
        let binding = CursorBinding::new("/console/charges", &visitor.user.subject)
            .with_sort("-position")
            .with_filter("status", word)
            .with_filter("customer", &customer);
        let asked = self.asked_page(request, rules_of_desk(), binding)?;
        let filter = ChargeFilter {
            status,
            customer: wanted,
        };
        let rows = match customer_fault {
            true => Vec::new(),
            false => {
                let rows = self.desk.charges(filter, window(&asked)).await;
                rows.map_err(|error| self.refused(error))?
            }
        };
        let found = asked.page(rows, |row: &Placed<Charge>| row.position);
        let found = found.map_err(|_| super::super::problem::unavailable())?;
        let now = self.clock.now();
        let charges = ChargesPage {
            frame: self.frame("charges", visitor).await?,
            ticket: visitor.ticket(),
            refusal,
            tabs: self.charge_tabs(status).await?,
            status: word.to_owned(),
            pager: Pager::of(
                "/console/charges",
                &[("status", word), ("customer", &customer)],
                &found,
            ),
            customer,
            customer_fault,
            rows: found
                .data()
                .iter()
                .map(|placed| Row::of(&placed.row, now))
                .collect(),
        };
        page(StatusCode::OK, &charges)
    }

    async fn charge_tabs(
        &self,
        chosen: Option<ChargeStatus>,
    ) -> Result<Vec<Tab>, http_conventions::errors::Problem> {
        let counts = self.desk.charges_by_status().await;
        let counts = counts.map_err(|error| self.refused(error))?;
        let word = chosen.map_or("", ChargeStatus::as_str);
        let choices = ChargeStatus::ALL.map(|status| (status.as_str(), Pill::of_charge(status).word));
        Ok(Tab::all("/console/charges?status=", &choices, &counts, word))
    }

    /// Creates the charge of a form and leads to its page.
    pub(super) async fn charge_from(&self, fields: &Params, held: Option<HeldKey>) -> Completed {
        let text = |name| {
            fields
                .optional(name)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        let currency = text("currency").unwrap_or_default().to_lowercase();
        let body = NewCharge {
            // no amount: the refusal of the desk names the field
            amount: text("amount")
                .and_then(|amount| typed(amount, &currency))
                .unwrap_or(0),
            currency,
            customer: text("customer").map(str::to_owned),
            description: text("description").map(str::to_owned),
        };
        let charge = self.desk.new_charge(body).map_err(|error| self.refused(error))?;
        let next = see_other(&format!("/console/charges/{}", charge.id), None);
        let answer = Answer::new(next, held.as_ref());
        let created = self
            .desk_in_trace()
            .insert_charge(charge, answer.settlement)
            .await;
        let receipt = created.map_err(|error| self.refused(error))?;
        Ok(Reply::completed(answer.response, receipt))
    }
}

impl Row {
    fn of(charge: &Charge, now: std::time::SystemTime) -> Self {
        let currency = charge.currency.as_str();
        Self {
            id: charge.id.to_string(),
            short_id: short(charge.id.as_str()),
            what: what_for(charge),
            amount: money(charge.amount.units().into(), currency),
            pill: Pill::of_charge(charge.status()),
            customer: charge.customer.as_ref().map(|customer| short(customer.as_str())),
            refunded: (charge.amount_refunded > 0).then(|| money(charge.amount_refunded.into(), currency)),
            created: lately(charge.created, now),
        }
    }
}

/// Description of a charge, or words for a missing one.
pub(super) fn what_for(charge: &Charge) -> String {
    described(charge.description.as_deref())
}

/// The description of a charge, or words for a missing one.
pub(super) fn described(description: Option<&str>) -> String {
    let description = description.filter(|text| !text.trim().is_empty());
    description.unwrap_or("Without description").to_owned()
}
