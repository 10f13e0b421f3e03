//! Effect of a hanging endpoint on others, in virtual time without sleeps.

use std::{
    future::poll_fn,
    mem::take,
    ops::ControlFlow,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{Request, StatusCode};
use webhook_core::{
    ports::{ExchangeLimits, Transport, TransportError},
    sender::{Disposition, Handled, Outbox, fan_out},
};

use super::fixture::{ExchangeResult, Fixture, answer, endpoint, event, start};

/// Response time of the healthy endpoints.
const SERVICE: Duration = Duration::from_millis(50);

/// Events for each healthy endpoint: bursts of four, a second apart.
const BURSTS: u64 = 10;
const EVENTS: usize = 4;

/// Endpoints of a run, and the places of its dispatcher.
struct Load {
    hung: usize,
    healthy: usize,
    concurrency: usize,
    /// Time of the bursts after one first event for every endpoint.
    begins: Duration,
}

/// W17: one hanging endpoint beside 99 others at most doubles their 99th percentile, under six
/// times the load that the places carry.
#[tokio::test]
async fn hung_endpoint_leaves_latency_of_others_within_twice() {
    let load = |hung| Load {
        hung,
        healthy: 99,
        concurrency: 64,
        begins: Duration::ZERO,
    };
    let alone = percentile_99(load(0).latencies().await);
    let beside = percentile_99(load(1).latencies().await);
    assert!(alone > SERVICE * 2, "{alone:?} is no load");
    assert!(beside <= alone * 2, "{beside:?} instead of {alone:?}");
}

/// W27: 1,000 endpoints that are known to hang at most double the 99th percentile of 20 others.
#[tokio::test]
async fn thousand_known_hung_endpoints_leave_latency_of_others() {
    let load = |hung| Load {
        hung,
        healthy: 20,
        concurrency: 512,
        begins: Duration::from_secs(120),
    };
    let alone = percentile_99(load(0).latencies().await);
    let beside = percentile_99(load(1_000).latencies().await);
    assert!(beside <= alone * 2, "{beside:?} instead of {alone:?}");
}

/// W27: after a cold start beside 1,000 endpoints that hang, of which nothing is known, the others
/// are served at their first turn: before a quarter of the hanging exchanges has ended.
#[tokio::test]
async fn cold_start_beside_hung_endpoints_is_bounded() {
    let load = Load {
        hung: 1_000,
        healthy: 20,
        concurrency: 512,
        begins: Duration::ZERO,
    };
    let latencies = load.latencies().await;
    // 256 places of ten seconds for 1,020 endpoints that are not proven
    let longest = latencies.into_iter().max().unwrap();
    assert!(longest <= Duration::from_secs(41), "{longest:?}");
}

fn percentile_99(mut latencies: Vec<Duration>) -> Duration {
    latencies.sort_unstable();
    latencies[latencies.len() * 99 / 100]
}

impl Load {
    /// Time of each measured event for a healthy endpoint from the outbox to its settlement.
    async fn latencies(&self) -> Vec<Duration> {
        let hung = (0..self.hung).map(|number| format!("hung_{number}"));
        let ids: Vec<String> = hung
            .chain((0..self.healthy).map(|number| format!("ep_{number}")))
            .collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let fixture = Fixture::over(TimedTransport::default())
            .with_endpoints(&ids)
            .await;
        let dispatcher = fixture.dispatcher.clone().with_concurrency(self.concurrency);
        let expected = self.healthy * EVENTS * usize::try_from(BURSTS).unwrap();
        let host = Host::default();
        let latencies = Mutex::new(Vec::new());
        let settled = |told: Result<Handled, _>| {
            let handled = told.unwrap();
            let begun = self.begun(handled.delivery.event.as_str());
            if let Some(begun) = begun.filter(|_| handled.disposition == Disposition::Acked) {
                let waited = fixture.now().duration_since(begun);
                latencies.lock().unwrap().push(waited.unwrap());
            }
        };
        let mut run = pin!(dispatcher.run(|next_due| host.wait(next_due), settled));
        let mut bursts = (0..=BURSTS).peekable();
        while latencies.lock().unwrap().len() < expected {
            let burst = bursts.peek().map(|burst| self.burst_at(*burst));
            let times = [burst, fixture.transport.next_end(), host.next_due()];
            let now = times.into_iter().flatten().min().unwrap();
            let step = now.duration_since(fixture.now()).unwrap_or_default();
            fixture.clock.advance(step);
            if let Some(burst) = bursts.next_if(|burst| self.burst_at(*burst) <= now) {
                // the first burst has one event for each endpoint
                let events = if burst == 0 { 1 } else { EVENTS };
                for (id, number) in ids
                    .iter()
                    .flat_map(|id| (0..events).map(move |number| (id, number)))
                {
                    if burst > 0 && id.starts_with("hung") && number > 0 {
                        continue;
                    }
                    let event = event(&format!("{burst}_{number}_{id}"));
                    let enqueue = fan_out(event, [&endpoint(id)], now);
                    fixture.outbox.enqueue(enqueue).await.unwrap();
                }
            }
            fixture.transport.advance(now);
            host.wake.0.store(true, Ordering::Relaxed);
            host.proceed(|context| assert!(run.as_mut().poll(context).is_pending()));
        }
        let mut latencies = latencies.lock().unwrap();
        take(&mut latencies)
    }

    fn burst_at(&self, burst: u64) -> SystemTime {
        match burst.checked_sub(1) {
            None => start(),
            Some(seconds) => start() + self.begins + Duration::from_secs(seconds),
        }
    }

    /// Time of a measured event; `None` for the first event of an endpoint.
    fn begun(&self, event: &str) -> Option<SystemTime> {
        let burst = event.split('_').next().unwrap().parse().unwrap();
        (burst > 0).then(|| self.burst_at(burst))
    }
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Wakes the dispatcher at each step of the clock.
#[derive(Default)]
struct Host {
    wake: Flag,
    next_due: Mutex<Option<SystemTime>>,
}

impl Host {
    fn wait(&self, next_due: Option<SystemTime>) -> impl Future<Output = ControlFlow<()>> {
        *self.next_due.lock().unwrap() = next_due;
        poll_fn(|_| {
            if self.wake.0.swap(false, Ordering::Relaxed) {
                Poll::Ready(ControlFlow::Continue(()))
            } else {
                Poll::Pending
            }
        })
    }

    fn next_due(&self) -> Option<SystemTime> {
        *self.next_due.lock().unwrap()
    }

    /// Polls until there is nothing to do.
    fn proceed(&self, mut poll: impl FnMut(&mut Context<'_>)) {
        let again = Arc::new(Flag(true.into()));
        let waker = Waker::from(Arc::clone(&again));
        while again.0.swap(false, Ordering::Relaxed) {
            poll(&mut Context::from_waker(&waker));
        }
    }
}

/// Transport whose exchanges end by the clock; those of hung hosts end at their deadline.
#[derive(Clone, Default)]
struct TimedTransport(Arc<Mutex<Exchanges>>);

#[derive(Default)]
struct Exchanges {
    now: Option<SystemTime>,
    open: Vec<(SystemTime, Waker)>,
}

impl TimedTransport {
    fn next_end(&self) -> Option<SystemTime> {
        let exchanges = self.0.lock().unwrap();
        exchanges.open.iter().map(|(end, _)| *end).min()
    }

    fn advance(&self, now: SystemTime) {
        let mut exchanges = self.0.lock().unwrap();
        exchanges.now = Some(now);
        let ended = exchanges.open.extract_if(.., |(end, _)| *end <= now);
        ended.for_each(|(_, waker)| waker.wake());
    }

    fn now(&self) -> SystemTime {
        self.0.lock().unwrap().now.unwrap()
    }

    async fn until(&self, end: SystemTime) {
        poll_fn(|context| {
            let mut exchanges = self.0.lock().unwrap();
            if exchanges.now >= Some(end) {
                return Poll::Ready(());
            }
            exchanges.open.push((end, context.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

#[async_trait::async_trait]
impl Transport for TimedTransport {
    async fn send(&self, request: Request<Bytes>) -> ExchangeResult {
        let is_hung = request.uri().host().unwrap().starts_with("hung");
        if is_hung {
            let deadline = request.extensions().get::<ExchangeLimits>().unwrap().timeout;
            self.until(self.now() + deadline).await;
            return Err(TransportError::timeout());
        }
        self.until(self.now() + SERVICE).await;
        answer(StatusCode::OK)
    }
}
