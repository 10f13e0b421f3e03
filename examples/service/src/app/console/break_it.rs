//! `/console/break-it`: causes faults and shows how the service heals; only with the feature
//! `break-it`, and only on loopback.

use std::sync::Arc;

use askama::Template;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::idempotency::HeldKey;
use http_conventions::routing::AllowedHosts;
use oauth_core::params::Params;
use serde_json::json;
use webhook_core::sender::DeliveryState;

use super::super::body::{Body, READER, to_json};
use super::super::browser::{form, missing_csrf_token, see_other};
use super::super::endpoint_bodies::NewEndpoint;
use super::super::faults::{CLOCK_STEP, RECEIVER_HANG, WORKER_DOWNTIME, cut_connection, is_repeatable};
use super::super::origin::is_own_page;
use super::super::{App, Completed, Handled};
use super::text::clock;
use super::{Frame, Ticket, Visitor, page};

const PATH: &str = "/console/break-it";

#[derive(Template)]
#[template(path = "console/break_it.html")]
struct BreakIt {
    frame: Frame,
    ticket: Ticket,
    is_killed: bool,
    is_drop_armed: bool,
    is_hanging: bool,
    has_receiver: bool,
    now: String,
    timeline: Vec<(&'static str, String, &'static str, String)>,
    counts: Vec<(&'static str, u64)>,
    holds: bool,
}

impl App {
    /// Serves the page of faults and its forms.
    pub(in super::super) async fn break_it(self: &Arc<Self>, request: &Request<Bytes>) -> Handled {
        self.check_place_of_faults(request)?;
        let Some(visitor) = self.visitor(request).await? else {
            return Ok(see_other("/login?return_to=/console/break-it", None));
        };
        match request.method().is_safe() {
            true => self.show_faults(&visitor).await,
            false => {
                let fields = form(request)?;
                if !is_own_page(request, &self.base_url) || !visitor.browser.accepts_form(&fields) {
                    return Err(missing_csrf_token());
                }
                self.cause(&fields).await
            }
        }
    }

    /// # Errors
    ///
    /// - 404 where faults are not allowed
    /// - 403 for a foreign host: a name that resolves to this machine
    fn check_place_of_faults(&self, request: &Request<Bytes>) -> Result<(), Problem> {
        if !self.console_state.faults.is_allowed {
            return Err(Problem::new(ErrorStatus::NOT_FOUND));
        }
        let (_, authority) = self.base_url.split_once("://").unwrap_or_default();
        let port = authority.rsplit_once(':').map_or("80", |(_, port)| port);
        let own = AllowedHosts::parse([authority.to_owned(), format!("localhost:{port}")]);
        let is_own = own.is_ok_and(|own| own.check(request).is_ok());
        match is_own {
            true => Ok(()),
            false => Err(Problem::new(ErrorStatus::FORBIDDEN)
                .with_detail("faults are caused under the service's own name only")),
        }
    }

    async fn show_faults(&self, visitor: &Visitor) -> Handled {
        let [messages, distinct_events, waiting_messages] = self.console_state.faults.count_received();
        let counts = self.desk.deliveries_by_state().await;
        let counts = counts.map_err(|error| self.refused(error))?;
        let of = |states: &[DeliveryState]| {
            let known = counts
                .iter()
                .filter(|(name, _)| states.iter().any(|state| state.as_str() == name));
            known.map(|(_, count)| count).sum::<u64>()
        };
        let waiting = of(&[
            DeliveryState::Ready,
            DeliveryState::Leased,
            DeliveryState::RetryScheduled,
        ]);
        let failed = of(&[DeliveryState::DeadLetter, DeliveryState::PermanentFailure]);
        let endpoints = self.all_endpoints().await?;
        let own = self.receiver_url();
        let shown = BreakIt {
            frame: self.frame("break-it", visitor).await?,
            ticket: visitor.ticket(),
            is_killed: self.console_state.faults.kill.is_active(),
            is_drop_armed: self.console_state.faults.is_drop_armed(),
            is_hanging: self.console_state.faults.hang.is_active(),
            has_receiver: endpoints.iter().any(|endpoint| endpoint.url.as_str() == own),
            now: clock(self.clock.now()),
            timeline: self
                .console_state
                .faults
                .timeline()
                .into_iter()
                .map(|entry| (entry.class, clock(entry.at), entry.title, entry.text))
                .collect(),
            counts: vec![
                ("Deliveries waiting", waiting),
                ("Deliveries lost", failed),
                ("Messages that hang", waiting_messages),
                ("Messages to the receiver", messages),
                ("Messages it had before", messages - distinct_events),
                ("Events it acted on", distinct_events),
            ],
            holds: failed == 0,
        };
        page(StatusCode::OK, &shown)
    }

    fn receiver_url(&self) -> String {
        format!("{}{PATH}/receiver", self.base_url)
    }

    /// Causes the fault that the form names, or ends it.
    async fn cause(self: &Arc<Self>, fields: &Params) -> Handled {
        let now = self.clock.now();
        match fields.optional("fault").unwrap_or_default() {
            "receiver" => drop(self.register_receiver(None).await?),
            "drop" => {
                self.console_state.faults.arm_drop();
                let text = "That of a POST with a key that succeeds; then its connection is cut.".to_owned();
                self.console_state
                    .faults
                    .record(now, "wait", "The next answer will be dropped", text);
            }
            "hang" => self.hang_receiver(),
            "answer" => self.free_receiver(self.console_state.faults.hang.end()),
            "kill" => self.kill_worker(),
            "start" => self.start_worker(self.console_state.faults.kill.end()),
            "step" => {
                self.clock.advance(CLOCK_STEP);
                let text = format!("It was {} and is {}.", clock(now), clock(self.clock.now()));
                self.console_state
                    .faults
                    .record(self.clock.now(), "bad", "Clock stepped by one hour", text);
            }
            _ => return Err(Problem::new(ErrorStatus::BAD_REQUEST).with_detail("unknown fault")),
        }
        tracing::warn!(fault = fields.optional("fault"), "fault caused by a person");
        Ok(see_other(PATH, None))
    }

    async fn register_receiver(&self, held: Option<HeldKey>) -> Completed {
        let body = to_json(&json!({ "url": self.receiver_url() }));
        let body = READER.read_bytes::<NewEndpoint>(&body);
        let body = body.map_err(|invalid| invalid.problem(self.conventions.problems()))?;
        self.register(body, held, |_, _| Ok(see_other(PATH, None))).await
    }

    fn hang_receiver(self: &Arc<Self>) {
        let generation = self.console_state.faults.hang.begin();
        let text = "It accepts messages and does not answer.".to_owned();
        self.console_state
            .faults
            .record(self.clock.now(), "bad", "The receiver hangs", text);
        let app = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(RECEIVER_HANG).await;
            app.free_receiver(app.console_state.faults.hang.end_generation(generation));
        });
    }

    fn free_receiver(&self, has_ended: bool) {
        if has_ended {
            let text = "Retries come due by their schedule.".to_owned();
            self.console_state
                .faults
                .record(self.clock.now(), "good", "The receiver answers again", text);
        }
    }

    fn kill_worker(self: &Arc<Self>) {
        let generation = self.console_state.faults.kill.begin();
        let text = "Its running deliveries are cut off; their leases stay.".to_owned();
        self.console_state
            .faults
            .record(self.clock.now(), "bad", "Delivery worker killed", text);
        let app = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(WORKER_DOWNTIME).await;
            app.start_worker(app.console_state.faults.kill.end_generation(generation));
        });
    }

    fn start_worker(&self, has_ended: bool) {
        if has_ended {
            let text = "It frees the leases of the one that was killed.".to_owned();
            self.console_state
                .faults
                .record(self.clock.now(), "good", "Delivery worker started again", text);
        }
    }

    /// Runs the delivery worker, and again after each time that it was killed, until it ends by
    /// itself.
    pub(in super::super) async fn deliver_despite_faults(&self) {
        loop {
            tokio::select! {
                () = self.deliver_events() => return,
                () = self.console_state.faults.kill.wait_for(true) => {}
            }
            let mut draining = self.draining.subscribe();
            tokio::select! {
                () = self.console_state.faults.kill.wait_for(false) => {}
                _ = draining.wait_for(|draining| *draining) => return,
            }
        }
    }

    /// The built-in receiver: acknowledges webhooks, and waits first while it hangs.
    pub(in super::super) async fn receive_webhook(&self, request: &Request<Bytes>) -> Handled {
        self.check_place_of_faults(request)?;
        let id = request.headers().get("webhook-id");
        let id = id.and_then(|id| id.to_str().ok()?.parse().ok());
        let id: webhook_core::event::EventId =
            id.ok_or_else(|| Problem::new(ErrorStatus::BAD_REQUEST).with_detail("no webhook-id"))?;
        let known = self.desk.event(id.to_string()).await;
        if known.map_err(|error| self.refused(error))?.is_none() {
            return Err(Problem::new(ErrorStatus::NOT_FOUND));
        }
        self.console_state.faults.wait_for_receiver().await;
        self.console_state.faults.receive(id);
        let mut answer = Response::new(Bytes::new());
        *answer.status_mut() = StatusCode::NO_CONTENT;
        Ok(answer)
    }

    /// Path of the request, if its answer may be the one to drop.
    pub(in super::super) fn droppable(&self, request: &Request<Bytes>) -> Option<String> {
        let faults = &self.console_state.faults;
        let is_droppable = faults.is_drop_armed() && is_repeatable(request);
        is_droppable.then(|| request.uri().path().to_owned())
    }

    /// Cuts the connection in the place of the answer, if this is the one to drop.
    pub(in super::super) fn drop_answer(&self, path: &str, response: Response<Body>) -> Response<Body> {
        let faults = &self.console_state.faults;
        if !faults.take_drop(&response) {
            return response;
        }
        let status = response.status();
        let text = format!("POST {path} was carried out: {status}. A retry gets the stored answer.");
        faults.record(self.clock.now(), "bad", "An answer was dropped", text);
        Response::new(cut_connection())
    }
}
