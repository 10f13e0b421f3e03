//! Forms of the console: each takes effect once, and a refused one comes back with its fields.

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Member, Problem, ReceivedProblem, is_problem};
use http_conventions::idempotency::{HeldKey, IntoReply as _, KeyScope};
use http_conventions::pipeline::{Exchange, Limited};
use oauth_core::params::Params;

use super::super::browser::{form, missing_csrf_token, see_other};
use super::super::page::{accepts_html, in_browser, in_place, problem_as_page};
use super::super::{App, Completed, Handled, reply};
use super::Visitor;
use super::place::{EndpointForm, Place};

/// A refused form: what was typed, and what is wrong with it.
pub(super) struct Refusal {
    pub(super) title: String,
    pub(super) detail: String,
    /// Path of the problem type; empty without one.
    pub(super) kind: String,
    /// JSON pointers of the wrong members, with what is wrong.
    faults: Vec<(String, String)>,
    fields: Params,
}

impl Refusal {
    fn of(answer: &Response<Bytes>, fields: Params) -> Option<Self> {
        let problem = ReceivedProblem::parse(answer.body()).ok()?;
        let kind = problem.type_uri();
        let kind = kind.find("/problems/").and_then(|start| kind.get(start..));
        let faults = match problem.extension("errors") {
            Some(Member::List(faults)) => faults.iter().filter_map(fault).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            title: problem.title().unwrap_or("The form was refused").to_owned(),
            detail: problem.detail().unwrap_or_default().to_owned(),
            kind: kind.unwrap_or_default().to_owned(),
            faults,
            fields,
        })
    }

    /// Fault of a member, if it has one.
    pub(super) fn fault(&self, pointer: &str) -> Option<&str> {
        let found = self.faults.iter().find(|(member, _)| member == pointer);
        found.map(|(_, detail)| detail.as_str())
    }

    /// Text of a field, as it was sent.
    pub(super) fn typed(&self, name: &str) -> &str {
        self.fields.optional(name).unwrap_or_default()
    }
}

fn fault(fault: &Member) -> Option<(String, String)> {
    let Member::Object(members) = fault else {
        return None;
    };
    let text = |wanted: &str| {
        let found = members.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| value.as_str()).map(str::to_owned)
    };
    Some((text("pointer")?, text("detail")?))
}

impl App {
    /// Takes a form of the console.
    pub(in super::super) async fn change(
        &self,
        exchange: Exchange<Limited>,
        place: &Place,
        mut request: Request<Bytes>,
    ) -> Response<Bytes> {
        let (visitor, fields) = match self.posted(&request).await {
            Ok(Some(posted)) => posted,
            Ok(None) => return exchange.finish(Ok(see_other("/login?return_to=/", None))),
            Err(problem) => {
                let refused = problem_as_page(&request, Err(problem));
                return in_browser(accepts_html(&request), exchange.finish(refused));
            }
        };
        let key = match idempotency_key(&fields) {
            Ok(key) => key,
            Err(problem) => return in_browser(accepts_html(&request), exchange.finish(Err(problem))),
        };
        request.headers_mut().insert("idempotency-key", key);
        let scope = KeyScope::new(&visitor.user.subject, place.template());
        let problems = self.conventions.problems();
        let in_transaction = matches!(
            place,
            Place::Charges
                | Place::Refund(_)
                | Place::Customers
                | Place::Endpoints
                | Place::EndpointForm(_, EndpointForm::Rotate)
        );
        let answer = if in_transaction {
            let handler = async |held| {
                self.create_from(place, &fields, &visitor, held)
                    .await
                    .into_reply(problems)
            };
            exchange.run_in_transaction(&request, scope, handler).await
        } else {
            let handler = async { reply(self.act_on(place, &fields, &visitor).await, problems) };
            exchange.run(&request, scope, handler).await
        };
        match is_problem(&answer) {
            true => self.form_again(place, &request, &visitor, (fields, answer)).await,
            false => answer,
        }
    }

    /// Signed-in user and fields of a form of this browser. Returns `None` without a session.
    ///
    /// # Errors
    ///
    /// - 403 without a CSRF token of this browser
    /// - 400 and 415 for what is no form
    async fn posted(&self, request: &Request<Bytes>) -> Result<Option<(Visitor, Params)>, Problem> {
        let fields = form(request)?;
        let Some(visitor) = self.visitor(request).await? else {
            return Ok(None);
        };
        if !visitor.browser.accepts_form(&fields) {
            return Err(missing_csrf_token());
        }
        Ok(Some((visitor, fields)))
    }

    async fn create_from(
        &self,
        place: &Place,
        fields: &Params,
        visitor: &Visitor,
        held: Option<HeldKey>,
    ) -> Completed {
        match place {
            Place::Charges => self.charge_from(fields, held).await,
            Place::Refund(charge) => self.refund_from(charge.clone(), fields, held).await,
            Place::Customers => self.customer_from(fields, held).await,
            Place::Endpoints => self.endpoint_from(fields, visitor, held).await,
            Place::EndpointForm(id, EndpointForm::Rotate) => self.rotate_from(id, visitor, held).await,
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }

    async fn act_on(&self, place: &Place, fields: &Params, visitor: &Visitor) -> Handled {
        match place {
            Place::EndpointForm(id, form) => self.endpoint_form(id, *form, fields).await,
            Place::Replay(id) => self.replay_from(id).await,
            Place::Replays => self.replays_from(fields, visitor).await,
            Place::ApplicationForm(form) => self.application_form(*form, fields, visitor).await,
            _ => Err(Problem::new(ErrorStatus::NOT_FOUND)),
        }
    }

    /// The page of a refused form, with the status of the refusal.
    async fn form_again(
        &self,
        place: &Place,
        request: &Request<Bytes>,
        visitor: &Visitor,
        (fields, answer): (Params, Response<Bytes>),
    ) -> Response<Bytes> {
        let refusal = Refusal::of(&answer, fields);
        let again = match place {
            _ if answer.status() == StatusCode::NOT_FOUND || answer.status().is_server_error() => None,
            Place::Charges => Some(self.show_charges(request, visitor, refusal).await),
            Place::Refund(id) => Some(self.show_charge(request, id, visitor, refusal).await),
            Place::Customers => Some(self.show_customers(request, visitor, refusal).await),
            Place::Endpoints => Some(self.show_endpoints(visitor, refusal).await),
            Place::Replays => Some(self.show_replays(request, visitor, refusal).await),
            Place::EndpointForm(id, _) => Some(self.show_endpoint(request, id, visitor, refusal).await),
            _ => None,
        };
        match again {
            Some(Ok(page)) => in_place(&answer, page),
            _ => in_browser(accepts_html(request), answer),
        }
    }
}

/// The form's idempotency key as a header value.
fn idempotency_key(fields: &Params) -> Result<HeaderValue, Problem> {
    let key = fields.optional("idempotency_key").unwrap_or_default();
    let is_key = (16..=64).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let missing = || {
        Problem::new(ErrorStatus::BAD_REQUEST).with_detail("the form has no idempotency key; reload its page")
    };
    let value = HeaderValue::try_from(format!("\"{key}\""))
        .ok()
        .filter(|_| is_key);
    value.ok_or_else(missing)
}
