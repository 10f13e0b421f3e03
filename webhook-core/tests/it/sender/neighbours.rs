//! Effect of a hanging endpoint on others, in virtual time without sleeps.

use std::{
    future::poll_fn,
    mem::take,
    ops::{ControlFlow, Range},
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

use super::fixture::{ExchangeResult, Fixture, answer, endpoint, envelope, start};

const ENDPOINTS: usize = 100;
const HUNG: &str = "ep_0";
/// Response time of the other endpoints.
const SERVICE: Duration = Duration::from_millis(50);

/// Every endpoint gets four events per second, together six times the concurrency of the
/// dispatcher.
const BURSTS: usize = 10;
const EVENTS: usize = 4;

/// W17: one hanging endpoint beside 99 others at most doubles their 99th percentile.
#[tokio::test]
async fn hung_endpoint_leaves_latency_of_others_within_twice() {
    let alone = percentile_99(latencies(1..ENDPOINTS).await);
    let beside = percentile_99(latencies(0..ENDPOINTS).await);
    assert!(alone > SERVICE * 2, "{alone:?} is no load");
    assert!(beside <= alone * 2, "{beside:?} instead of {alone:?}");
}

fn percentile_99(mut latencies: Vec<Duration>) -> Duration {
    latencies.sort_unstable();
    latencies[latencies.len() * 99 / 100]
}

/// Time of each event for a healthy endpoint from the outbox to its settlement.
async fn latencies(endpoints: Range<usize>) -> Vec<Duration> {
    let ids: Vec<String> = endpoints.map(|number| format!("ep_{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let fixture = Fixture::over(TimedTransport::default())
        .with_endpoints(&ids)
        .await;
    let expected = ids.iter().filter(|id| **id != HUNG).count() * BURSTS * EVENTS;

    let host = Host::default();
    let latencies = Mutex::new(Vec::new());
    let settled = |told: Result<Handled, _>| {
        let handled = told.unwrap();
        if handled.disposition == Disposition::Acked {
            let waited = fixture
                .now()
                .duration_since(stored_at(handled.delivery.event.as_str()));
            latencies.lock().unwrap().push(waited.unwrap());
        }
    };
    let mut run = pin!(fixture.dispatcher.run(|next_due| host.wait(next_due), settled));
    let mut bursts = (0..BURSTS).peekable();
    while latencies.lock().unwrap().len() < expected {
        let burst = bursts.peek().map(|burst| burst_at(*burst));
        let times = [burst, fixture.transport.next_end(), host.next_due()];
        let now = times.into_iter().flatten().min().unwrap();
        fixture.clock.set(now);
        if let Some(burst) = bursts.next_if(|burst| burst_at(*burst) == now) {
            for (id, number) in ids
                .iter()
                .flat_map(|id| (0..EVENTS).map(move |number| (id, number)))
            {
                let event = envelope(&format!("{burst}_{number}_{id}"));
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

fn burst_at(burst: usize) -> SystemTime {
    start() + Duration::from_secs(burst.try_into().unwrap())
}

fn stored_at(event: &str) -> SystemTime {
    burst_at(event.split('_').next().unwrap().parse().unwrap())
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

/// Transport whose exchanges end by the clock; those of one host end at their deadline.
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
        let is_hung = request.uri().host() == Some("ep-0.example.com");
        if is_hung {
            let deadline = request.extensions().get::<ExchangeLimits>().unwrap().timeout;
            self.until(self.now() + deadline).await;
            return Err(TransportError::timeout());
        }
        self.until(self.now() + SERVICE).await;
        answer(StatusCode::OK)
    }
}
