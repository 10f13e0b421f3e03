//! `/v1/customers`: creates, lists and reads customers.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::idempotency::{HeldKey, Reply};
use http_conventions::paging::CursorBinding;
use http_conventions::routing::{InvalidLocation, Location, respond_created};
use serde_json::Value;

use super::body::{json, read_json};
use super::caller::Caller;
use super::effects::{Effect, Kind};
use super::lists::{page_of_desk, rules_of_desk, window};
use super::{Answer, App, Completed, Handled};
use crate::domain::{Customer, CustomerId};
use crate::wire::CustomerBody;

impl App {
    pub(super) async fn create_customer(&self, request: &Request<Bytes>, held: Option<HeldKey>) -> Completed {
        let body = read_json(request, self.conventions.problems())?;
        let customer = self.desk.new_customer(body);
        let customer = customer.map_err(|error| self.refused(error))?;
        let answer = Answer::new(created(&customer)?, held.as_ref());
        let effect = Effect::changed(Kind::Customer, &customer.id);
        let inserted = self.desk.insert_customer(customer, answer.settlement).await;
        let receipt = inserted.map_err(|error| self.refused(error))?;
        effect.record();
        Ok(Reply::completed(answer.response, receipt))
    }

    pub(super) async fn list_customers(&self, request: &Request<Bytes>, caller: &Caller) -> Handled {
        let binding = CursorBinding::new("/v1/customers", caller.subject()).with_sort("-position");
        let asked = self.asked_page(request, rules_of_desk(), binding)?;
        let rows = self
            .desk
            .customers(window(&asked))
            .await
            .map_err(|error| self.refused(error))?;
        page_of_desk(request, &asked, rows, |customer| {
            serde_json::to_value(CustomerBody::of(customer)).unwrap_or(Value::Null)
        })
    }

    pub(super) async fn read_customer(&self, id: CustomerId) -> Handled {
        let customer = self
            .desk
            .customer(id)
            .await
            .map_err(|error| self.refused(error))?;
        Ok(json(StatusCode::OK, &CustomerBody::of(&customer)))
    }
}

fn created(customer: &Customer) -> Result<Response<Bytes>, InvalidLocation> {
    let location = Location::of_path(["v1", "customers", customer.id.as_str()])?;
    Ok(respond_created(
        &location,
        json(StatusCode::OK, &CustomerBody::of(customer)),
    ))
}
