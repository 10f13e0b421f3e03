//! `/console/find`: leads from any id to its page.

use bytes::Bytes;
use http::Request;
use webhook_core::event::EventId;
use webhook_core::sender::{DeliveryFilter, EndpointId, Page};

use super::super::browser::see_other;
use super::super::lists::query_parameter;
use super::super::webhook_deliveries::{delivery_id, wire_id};
use super::super::{App, Handled};
use crate::domain::{ChargeId, CustomerId, RefundId};

impl App {
    /// Redirects to the page of a charge, a refund, a customer, an event, a delivery, an endpoint
    /// or a request, and to the list of requests for another text.
    pub(super) async fn find(&self, request: &Request<Bytes>) -> Handled {
        let text = query_parameter(request, "id").unwrap_or_default();
        let text = text.trim();
        let failed = |error: webhook_core::ports::StoreError| self.refused(error.into());
        if text.parse::<ChargeId>().is_ok() {
            return Ok(see_other(&format!("/console/charges/{text}"), None));
        }
        if text.parse::<RefundId>().is_ok() {
            return Ok(see_other(&format!("/console/refunds?about={text}"), None));
        }
        if text.parse::<CustomerId>().is_ok() {
            return Ok(see_other(&format!("/console/charges?customer={text}"), None));
        }
        if let Some(id) = delivery_id(text) {
            return Ok(see_other(&format!("/console/deliveries/{}", wire_id(&id)), None));
        }
        if let Ok(event) = text.parse::<EventId>() {
            let filter = DeliveryFilter {
                event: Some(event),
                ..DeliveryFilter::default()
            };
            let found = self
                .stores
                .outbox
                .list(&filter, &Page::default())
                .await
                .map_err(failed)?;
            if let Some(delivery) = found.first() {
                return Ok(see_other(
                    &format!("/console/deliveries/{}", wire_id(&delivery.id)),
                    None,
                ));
            }
        }
        if let Ok(endpoint) = text.parse::<EndpointId>()
            && self
                .stores
                .endpoints
                .load(&endpoint)
                .await
                .map_err(failed)?
                .is_some()
        {
            return Ok(see_other(&format!("/console/endpoints/{endpoint}"), None));
        }
        let requests = self.console_state.traffic.all();
        if requests.iter().any(|seen| seen.id == text) {
            return Ok(see_other(&format!("/console/requests/{text}"), None));
        }
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("q", text)
            .finish();
        Ok(see_other(&format!("/console/requests?{query}"), None))
    }
}
