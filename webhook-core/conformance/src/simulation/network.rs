//! Network and receivers: the fate of a request after it was sent.
//!
//! A request arrives even if its sender crashes or gives up, and its receiver may queue the event
//! although no response returns.

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Poll, Waker},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::{Either, poll_fn, select};
use http::{HeaderValue, Request, Response, StatusCode, header};

use super::{
    census::CrashPoint,
    choices::Choices,
    monitor::Asked,
    scheduler::LONGEST_RESTART,
    sites::{Site, Sites, Temper},
    violation::{Invariant, check},
    world::{Actor, LONGEST_STALL, SKEW, World},
};
use webhook_core::{
    ports::{ExchangeLimits, Transport, TransportError},
    receiver::ReceiveOutcome,
    sender::DeliveryId,
    signature::WEBHOOK_ID,
};

/// Time for which the receivers remember an event; the default of a receiver.
pub(super) const MEMORY: Duration = Duration::from_secs(259_200);

/// Deadline of an exchange: short, so that hanging endpoints cost a run few steps.
pub(super) const DEADLINE: Duration = Duration::from_secs(2);

/// Time for which a message may be in transit after its sender gave up.
pub(super) const STRAGGLING: Duration = Duration::from_secs(20);

/// Maximum delay of an event at a healthy endpoint, after this number of faults.
///
/// Without faults it is the difference between the clocks of producer and dispatcher, plus 2
/// seconds. Each fault adds at most the longest stall, a deadline, a difference of clocks, and a
/// restart.
pub(super) fn healthy_bound(faults: u64) -> Duration {
    let faults = u32::try_from(faults).unwrap_or(u32::MAX);
    let fault = LONGEST_STALL + DEADLINE + SKEW * 2 + LONGEST_RESTART;
    Duration::from_secs(2) + SKEW * 2 + fault.saturating_mul(faults)
}

/// Fate of one exchange.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// The request arrives, and the response returns.
    Arrives,
    /// The request arrives, and the response is lost.
    AnswerLost,
    /// The request arrives, and a gateway responds with 502.
    AnsweredByGateway,
    /// The request arrives after the sender has given up.
    ArrivesLate,
    /// The receiver responds with this status and `Retry-After` without reading the request.
    Turned(u16, Option<u64>),
    /// The connection is refused.
    Refused,
    /// The request is lost, and no response returns.
    Hangs,
    /// The request is lost, and the transport ignores its deadline.
    HangsForever,
}

impl Fate {
    fn choose(temper: Temper, choices: &Choices) -> Self {
        match temper {
            Temper::Hung if choices.happens(100) => Self::HangsForever,
            Temper::Hung => Self::Hangs,
            Temper::Throttling if choices.happens(600) => Self::Turned(429, Some(choices.below(200))),
            Temper::Flaky if choices.happens(600) => Self::misfortune(choices),
            Temper::Healthy | Temper::Throttling | Temper::Flaky => Self::Arrives,
        }
    }

    fn misfortune(choices: &Choices) -> Self {
        let asked = Some(choices.below(900)).filter(|asked| asked % 2 == 0);
        match choices.below(20) {
            0..4 => Self::AnswerLost,
            4..6 => Self::AnsweredByGateway,
            6..8 => Self::ArrivesLate,
            8..11 => Self::Turned(500, asked),
            11..13 => Self::Turned(503, asked),
            13..15 => Self::Turned(429, asked),
            15 => Self::Turned(404, None),
            16 => Self::Turned(410, None),
            17 => Self::Hangs,
            _ => Self::Refused,
        }
    }

    /// The transport never returns.
    fn ignores_deadline(self) -> bool {
        matches!(self, Self::HangsForever)
    }

    fn reaches_the_receiver(self) -> bool {
        !matches!(
            self,
            Self::Turned(..) | Self::Refused | Self::Hangs | Self::HangsForever
        )
    }
}

/// Transport of one dispatcher.
pub(super) struct SimulatedTransport {
    pub(super) world: Arc<World>,
    pub(super) actor: Actor,
    pub(super) sites: Arc<Sites>,
    pub(super) poison: Option<DeliveryId>,
}

#[async_trait]
impl Transport for SimulatedTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let (site, delivery) = self.recipient(&request)?;
        let timeout = timeout(&request);
        let fate = {
            let mut state = self.world.state();
            let fate = Fate::choose(site.temper(), &state.choices);
            state.census.requests += 1;
            state.tell(|| format!("{}: sends {delivery}: {fate:?}", self.actor));
            fate
        };
        self.world.check(|state| {
            let now = state.wall(self.actor);
            state.monitor.sent(self.actor, &delivery, now)
        });
        if self.poison.as_ref() == Some(&delivery) {
            self.world.poison(self.actor, &delivery).await;
        }
        let (index, date_error) = (site.index, site.date_error);
        let answer = self.forward(fate, site, &delivery, request);
        self.world.end_perhaps(self.actor, CrashPoint::AfterSend).await;
        let mut answer = self.exchange(fate, &answer, timeout).await;
        if let Ok(answer) = &mut answer {
            let date = self.world.wall(Actor::Receiver(index)) + date_error;
            let date = HeaderValue::from_str(&httpdate::fmt_http_date(date));
            answer
                .headers_mut()
                .extend(date.ok().map(|date| (header::DATE, date)));
            let asked = asked(answer, self.world.wall(self.actor));
            self.world.state().monitor.answered(self.actor, &delivery, asked);
        }
        answer
    }
}

impl SimulatedTransport {
    fn recipient(&self, request: &Request<Bytes>) -> Result<(Arc<Site>, DeliveryId), TransportError> {
        let host = request.uri().host().unwrap_or_default();
        let site = self
            .sites
            .by_host(host)
            .ok_or_else(|| TransportError::connect("no such host"))?;
        let event = request.headers().get(WEBHOOK_ID).and_then(|id| id.to_str().ok());
        let event = event
            .and_then(|id| id.parse().ok())
            .ok_or_else(|| TransportError::other("no event"))?;
        let endpoint = site.endpoint.clone();
        Ok((site, DeliveryId { event, endpoint }))
    }

    /// Forwards the request, unless it is lost; returns the slot for its response.
    fn forward(
        &self,
        fate: Fate,
        site: Arc<Site>,
        delivery: &DeliveryId,
        request: Request<Bytes>,
    ) -> Arc<Slot> {
        let slot = Arc::new(Slot::default());
        if fate.reaches_the_receiver() {
            let (world, delivery, fills) = (self.world.clone(), delivery.clone(), Fill(slot.clone()));
            let index = site.index;
            let mut state = self.world.state();
            let way = match fate {
                Fate::ArrivesLate => timeout(&request) + state.choices.time(STRAGGLING),
                _ => state.choices.time(Duration::from_millis(100)),
            };
            let courier = async move {
                world.sleep(way).await;
                let answer = site.receiver().receive(request).await;
                let outcome = answer.extensions().get::<ReceiveOutcome>().copied();
                world.check(|state| {
                    // a sender whose clock is an hour off cannot be verified
                    if state.census.clock_leaps > 0 {
                        return Ok(());
                    }
                    let verified = !matches!(
                        outcome,
                        Some(ReceiveOutcome::Rejected(_) | ReceiveOutcome::Conflict)
                    );
                    check(verified, Invariant::SecretsOverlap, || {
                        format!("the receiver refuses {delivery}: {outcome:?}")
                    })
                });
                fills.0.fill(answer);
            };
            state.spawned.push((Actor::Receiver(index), Box::pin(courier)));
        }
        slot
    }

    async fn exchange(
        &self,
        fate: Fate,
        slot: &Slot,
        timeout: Duration,
    ) -> Result<Response<Bytes>, TransportError> {
        let back = self.world.state().choices.time(Duration::from_millis(100));
        let answer = async {
            match fate {
                Fate::Arrives => slot.answer().await,
                Fate::AnswerLost => {
                    slot.answer().await?;
                    Err(TransportError::other("the connection broke"))
                }
                Fate::AnsweredByGateway => {
                    slot.answer().await?;
                    Ok(answer(StatusCode::BAD_GATEWAY, None))
                }
                Fate::Turned(status, asked) => {
                    self.world.sleep(back).await;
                    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
                    Ok(answer(status, asked))
                }
                Fate::Refused => Err(TransportError::connect("refused")),
                Fate::ArrivesLate | Fate::Hangs | Fate::HangsForever => std::future::pending().await,
            }
        };
        match select(pin!(answer), pin!(self.world.sleep(timeout))).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) if fate.ignores_deadline() => std::future::pending().await,
            Either::Right(_) => Err(TransportError::timeout()),
        }
    }
}

/// Slot in which the dispatcher waits for the response.
#[derive(Default)]
struct Slot(Mutex<Contents>);

#[derive(Default)]
struct Contents {
    answer: Option<Response<Bytes>>,
    is_closed: bool,
    waker: Option<Waker>,
}

/// Closes a slot if its receiver crashes before it responds.
struct Fill(Arc<Slot>);

impl Drop for Fill {
    fn drop(&mut self) {
        self.0.change(|contents| contents.is_closed = true);
    }
}

impl Slot {
    fn fill(&self, answer: Response<Bytes>) {
        self.change(|contents| contents.answer = Some(answer));
    }

    async fn answer(&self) -> Result<Response<Bytes>, TransportError> {
        poll_fn(|context| {
            let mut contents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match (contents.answer.take(), contents.is_closed) {
                (Some(answer), _) => Poll::Ready(Ok(answer)),
                (None, true) => Poll::Ready(Err(TransportError::other("the receiver is gone"))),
                (None, false) => {
                    contents.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn change(&self, change: impl FnOnce(&mut Contents)) {
        let mut contents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut contents);
        if let Some(waker) = contents.waker.take() {
            waker.wake();
        }
    }
}

fn timeout(request: &Request<Bytes>) -> Duration {
    let limits = request.extensions().get::<ExchangeLimits>().copied();
    limits.unwrap_or_default().timeout
}

fn answer(status: StatusCode, asked: Option<u64>) -> Response<Bytes> {
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = status;
    if let Some(asked) = asked {
        answer
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(asked));
    }
    answer
}

/// `Retry-After` of a response, parsed without the code under test.
fn asked(answer: &Response<Bytes>, now: SystemTime) -> Asked {
    let seconds = answer.headers().get(header::RETRY_AFTER);
    let seconds = seconds.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    let until = seconds.map(|seconds| now + Duration::from_secs(seconds));
    match answer.status() {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Asked {
            message: until,
            // `Retry-After: 0` holds nothing, and clocks differ
            endpoint: until.filter(|until| *until > now),
        },
        status if status.is_server_error() => Asked {
            message: until,
            endpoint: None,
        },
        _ => Asked::default(),
    }
}
