//! `/console/refunds`: the refunds of all charges.

use std::time::SystemTime;

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::errors::Problem;
use http_conventions::paging::CursorBinding;

use super::super::lists::{query_parameter, rules_of_desk, window};
use super::super::problem::unavailable;
use super::super::{App, Handled};
use super::charges::{Tab, described};
use super::pager::Pager;
use super::state::Pill;
use super::text::{lately, money, short};
use super::{Frame, Visitor, page};
use crate::desk::{Placed, RefundFilter, RefundSeen};
use crate::domain::RefundStatus;

#[derive(Template)]
#[template(path = "console/refunds.html")]
struct RefundsPage {
    frame: Frame,
    tabs: Vec<Tab>,
    status: &'static str,
    about: String,
    about_fault: bool,
    rows: Vec<Row>,
    pager: Pager,
}

struct Row {
    short_id: String,
    charge: String,
    what: String,
    amount: String,
    pill: Pill,
    created: String,
}

impl App {
    pub(super) async fn show_refunds(&self, request: &Request<Bytes>, visitor: &Visitor) -> Handled {
        let status = query_parameter(request, "status").and_then(|word| RefundStatus::parse(&word));
        let about = query_parameter(request, "about").unwrap_or_default();
        let filter = RefundFilter {
            status,
            charge: about.trim().parse().ok(),
            id: about.trim().parse().ok(),
        };
        let about_fault = !about.is_empty() && filter.charge.is_none() && filter.id.is_none();
        let word = status.map_or("", RefundStatus::as_str);
        let binding = CursorBinding::new("/console/refunds", &visitor.user.subject)
            .with_sort("-position")
            .with_filter("status", word)
            .with_filter("about", &about);
        let asked = self.asked_page(request, rules_of_desk(), binding)?;
        let rows = match about_fault {
            true => Vec::new(),
            false => {
                let rows = self.desk.all_refunds(filter, window(&asked)).await;
                rows.map_err(|error| self.refused(error))?
            }
        };
        let found = asked.page(rows, |row: &Placed<RefundSeen>| row.position);
        let found = found.map_err(|_| unavailable())?;
        let now = self.clock.now();
        let refunds = RefundsPage {
            frame: self.frame("refunds", visitor).await?,
            tabs: self.refund_tabs(word).await?,
            status: word,
            pager: Pager::of("/console/refunds", &[("status", word), ("about", &about)], &found),
            about,
            about_fault,
            rows: found
                .data()
                .iter()
                .map(|placed| Row::of(&placed.row, now))
                .collect(),
        };
        page(StatusCode::OK, &refunds)
    }

    async fn refund_tabs(&self, chosen: &str) -> Result<Vec<Tab>, Problem> {
        let counts = self.desk.refunds_by_status().await;
        let counts = counts.map_err(|error| self.refused(error))?;
        let choices = RefundStatus::ALL.map(|status| (status.as_str(), Pill::of_refund(status).word));
        Ok(Tab::all("/console/refunds?status=", &choices, &counts, chosen))
    }
}

impl Row {
    fn of(seen: &RefundSeen, now: SystemTime) -> Self {
        let refund = &seen.refund;
        Self {
            short_id: short(refund.id.as_str()),
            charge: refund.charge.to_string(),
            what: described(seen.description.as_deref()),
            amount: money(refund.amount.units().into(), seen.currency.as_str()),
            pill: Pill::of_refund(refund.status),
            created: lately(refund.created, now),
        }
    }
}
