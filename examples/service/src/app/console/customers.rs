//! `/console/customers`: the list of customers, and the form for a new one.

use std::time::SystemTime;

use askama::Template;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_conventions::idempotency::{HeldKey, Reply};
use http_conventions::paging::CursorBinding;
use oauth_core::params::Params;
use serde_json::json;

use super::super::body::{READER, to_json};
use super::super::browser::see_other;
use super::super::lists::{query_parameter, rules_of_desk, window};
use super::super::problem::unavailable;
use super::super::{Answer, App, Completed, Handled};
use super::change::Refusal;
use super::pager::Pager;
use super::text::lately;
use super::{Frame, Ticket, Visitor, page};
use crate::desk::Placed;
use crate::domain::{Customer, NewCustomer};

#[derive(Template)]
#[template(path = "console/customers.html")]
struct CustomersPage {
    frame: Frame,
    ticket: Ticket,
    refusal: Option<Refusal>,
    notice: bool,
    rows: Vec<Row>,
    pager: Pager,
}

struct Row {
    id: String,
    name: String,
    created: String,
}

impl App {
    pub(super) async fn show_customers(
        &self,
        request: &Request<Bytes>,
        visitor: &Visitor,
        refusal: Option<Refusal>,
    ) -> Handled {
        let binding = CursorBinding::new("/console/customers", &visitor.user.subject).with_sort("-position");
        let asked = self.asked_page(request, rules_of_desk(), binding)?;
        let rows = self.desk.customers(window(&asked)).await;
        let rows = rows.map_err(|error| self.refused(error))?;
        let found = asked.page(rows, |row: &Placed<Customer>| row.position);
        let found = found.map_err(|_| unavailable())?;
        let now = self.clock.now();
        let customers = CustomersPage {
            frame: self.frame("customers", visitor).await?,
            ticket: visitor.ticket(),
            refusal,
            notice: query_parameter(request, "notice").is_some(),
            pager: Pager::of("/console/customers", &[], &found),
            rows: found
                .data()
                .iter()
                .map(|placed| Row::of(&placed.row, now))
                .collect(),
        };
        page(StatusCode::OK, &customers)
    }

    /// Creates the customer of a form and leads back to the list, which it then leads.
    pub(super) async fn customer_from(&self, fields: &Params, held: Option<HeldKey>) -> Completed {
        let body = json!({ "name": fields.optional("name").unwrap_or_default().trim() });
        // the API's reader, so that the faults are those of the API
        let read = READER.read_bytes::<NewCustomer>(&to_json(&body));
        let body = read.map_err(|invalid| invalid.problem(self.conventions.problems()))?;
        let customer = self.desk.new_customer(body);
        let customer = customer.map_err(|error| self.refused(error))?;
        let answer = Answer::new(
            see_other("/console/customers?notice=created", None),
            held.as_ref(),
        );
        let inserted = self.desk.insert_customer(customer, answer.settlement).await;
        let receipt = inserted.map_err(|error| self.refused(error))?;
        Ok(Reply::completed(answer.response, receipt))
    }
}

impl Row {
    fn of(customer: &Customer, now: SystemTime) -> Self {
        Self {
            id: customer.id.to_string(),
            name: customer.name.clone(),
            created: lately(customer.created, now),
        }
    }
}
