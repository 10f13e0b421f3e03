//! `/v1/charges`: creates, lists, reads, replaces and patches charges.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_conventions::caching::CacheControl;
use http_conventions::caching::{EntityTag, Preconditions, Validators};
use http_conventions::errors::Problem;
use http_conventions::idempotency::{HeldKey, Reply};
use http_conventions::paging::CursorBinding;
use http_conventions::patching::{Patch, PatchRules};
use http_conventions::routing::{InvalidLocation, Location, respond_created};
use serde_json::Value;

use super::body::{READER, json, read_json, to_json};
use super::caller::Caller;
use super::effects::{Effect, Kind};
use super::lists::{filtered_by, page_of_desk, rules_of_desk, window};
use super::{Answer, App, Completed, Handled};
use crate::desk::ChargeFilter;
use crate::domain::{Charge, ChargeId, ChargeStatus, NewCharge};
use crate::wire::{ChargeBody, PatchedCharge};

const PATCHES: PatchRules = PatchRules::new(&["/description"]).with_reader(READER);

impl App {
    pub(super) async fn create_charge(&self, request: &Request<Bytes>, held: Option<HeldKey>) -> Completed {
        let body: NewCharge = read_json(request, self.conventions.problems())?;
        let charge = self.desk.new_charge(body).map_err(|error| self.refused(error))?;
        let answer = Answer::new(created(&charge)?, held.as_ref());
        let effect = Effect::changed(Kind::Charge, &charge.id);
        let inserted = self
            .desk_in_trace()
            .insert_charge(charge, answer.settlement)
            .await;
        let receipt = inserted.map_err(|error| self.refused(error))?;
        effect.record();
        Ok(Reply::completed(answer.response, receipt))
    }

    pub(super) async fn list_charges(&self, request: &Request<Bytes>, caller: &Caller) -> Handled {
        let filter = charge_filter(request)?;
        let mut binding = CursorBinding::new("/v1/charges", caller.subject()).with_sort("-position");
        if let Some(status) = filter.status {
            binding = binding.with_filter("status", status.as_str());
        }
        if let Some(customer) = &filter.customer {
            binding = binding.with_filter("customer", customer.as_str());
        }
        let asked = self.asked_page(request, rules_of_desk(), binding)?;
        let rows = self
            .desk
            .charges(filter, window(&asked))
            .await
            .map_err(|error| self.refused(error))?;
        page_of_desk(request, &asked, rows, |charge| {
            serde_json::to_value(ChargeBody::of(charge)).unwrap_or(Value::Null)
        })
    }

    pub(super) async fn read_charge(&self, request: &Request<Bytes>, id: ChargeId) -> Handled {
        let charge = self.desk.charge(id).await.map_err(|error| self.refused(error))?;
        let preconditions = Preconditions::of(request, self.clock.now());
        preconditions.answer_read(&entity_tag(&charge), shown(&charge), self.conventions.problems())
    }

    pub(super) async fn replace_charge(&self, request: &Request<Bytes>, id: ChargeId) -> Handled {
        let charge = self.desk.charge(id).await.map_err(|error| self.refused(error))?;
        let preconditions = Preconditions::of(request, self.clock.now()).with_required();
        preconditions.check_write(Some(&entity_tag(&charge)), self.conventions.problems())?;
        let body = read_json(request, self.conventions.problems())?;
        self.replaced_charge(charge, body).await
    }

    /// Applies a JSON merge patch or a JSON patch.
    pub(super) async fn patch_charge(&self, request: &Request<Bytes>, id: ChargeId) -> Handled {
        let problems = self.conventions.problems();
        let patch = Patch::parse(request.headers(), request.body());
        let patch = patch.map_err(|refusal| refusal.problem(problems))?;
        let charge = self.desk.charge(id).await.map_err(|error| self.refused(error))?;
        let preconditions = Preconditions::of(request, self.clock.now()).with_required();
        preconditions.check_write(Some(&entity_tag(&charge)), problems)?;
        let patched = patch.apply_to(&PatchedCharge::of(&charge), &PATCHES);
        let PatchedCharge { description, .. } = patched.map_err(|refusal| refusal.problem(problems))?;
        let body = NewCharge {
            description,
            ..NewCharge::of(&charge)
        };
        self.replaced_charge(charge, body).await
    }

    /// Replaces the charge that was read, if it has not changed since.
    async fn replaced_charge(&self, read: Charge, body: NewCharge) -> Handled {
        let charge = self
            .desk
            .replace_charge(read, body)
            .await
            .map_err(|error| self.refused(error))?;
        Effect::changed(Kind::Charge, &charge.id).record();
        let mut response = shown(&charge);
        entity_tag(&charge).apply(response.headers_mut());
        Ok(response)
    }
}

fn created(charge: &Charge) -> Result<Response<Bytes>, InvalidLocation> {
    let location = Location::of_path(["v1", "charges", charge.id.as_str()])?;
    let mut response = respond_created(&location, json(StatusCode::OK, &ChargeBody::of(charge)));
    entity_tag(charge).apply(response.headers_mut());
    Ok(response)
}

/// Entity tag of a charge, derived from its version.
fn entity_tag(charge: &Charge) -> Validators {
    Validators::default().with_entity_tag(EntityTag::of_content(&to_json(&ChargeBody::of(charge))))
}

/// Response with a charge: private caches may store it and revalidate it before each use.
fn shown(charge: &Charge) -> Response<Bytes> {
    let mut response = json(StatusCode::OK, &ChargeBody::of(charge));
    let headers: &mut HeaderMap = response.headers_mut();
    CacheControl::private(Duration::ZERO).apply(headers);
    headers.insert(header::VARY, HeaderValue::from_static("Authorization"));
    response
}

fn charge_filter(request: &Request<Bytes>) -> Result<ChargeFilter, Problem> {
    Ok(ChargeFilter {
        status: filtered_by(request, "status", ChargeStatus::parse)?,
        customer: filtered_by(request, "customer", |id| id.parse().ok())?,
    })
}
