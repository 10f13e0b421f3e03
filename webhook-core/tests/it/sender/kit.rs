//! The replay cases of the kit can fail: outboxes with one flaw each.

use std::{
    sync::{Arc, Barrier},
    time::{Duration, SystemTime},
};

use webhook_core::{
    memory::MemoryOutbox,
    ports::StoreError,
    sender::{
        Attempt, Delivery, DeliveryFilter, DeliveryId, Endpoint, EndpointState, Enqueue, Enqueued,
        EventFilter, LeaseRequest, Leases, Missing, MissingRequest, Outbox, Page, Period, Receipt,
        ReplayRequest, Replayed, Settlement,
    },
};
use webhook_core_conformance::outbox as kit;

/// W18: each flaw is found by its case.
#[tokio::test]
async fn flawed_replays_are_found() {
    macro_rules! found {
        ($($flaw:ident by $case:ident),+ $(,)?) => {$(
            let store: Arc<dyn Outbox> = Arc::new(Flawed::new(Flaw::$flaw));
            let case = tokio::spawn(async move { kit::$case(&store).await });
            assert!(case.await.is_err_and(|error| error.is_panic()), stringify!($flaw));
        )+};
    }
    found! {
        ListsAllTimes by a_list_is_narrowed_to_the_events_of_a_period,
        ReplaysAllTimes by failed_deliveries_of_period_are_replayed,
        ReplaysAll by replay_is_limited,
        NeverHasMore by replay_is_limited,
        BeginsAgain by replay_continues_behind_the_last_one,
        NamesNoLast by replay_continues_behind_the_last_one,
        CountsThenReplays by of_32_concurrent_limited_replays_each_gets_its_part,
        IncludesTheEnd by a_list_is_narrowed_to_the_events_of_a_period,
        IncludesTheEnd by only_events_of_the_period_are_missing,
        LooksAtAllTimes by only_events_of_the_period_are_missing,
        MakesInADryRun by dry_run_counts_missing_deliveries_only,
        MakesWhatIsUnwanted by only_subscribed_events_are_missing,
        RevivesWhatFailed by a_delivery_in_any_state_is_not_missing,
        KeepsTheAge by late_endpoint_gets_earlier_events,
        MakesNothing by late_endpoint_gets_earlier_events,
        LooksOnce by missing_events_are_examined_in_pages,
        LooksThenMakes by of_32_concurrent_calls_one_creates_each_missing_delivery,
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Flaw {
    ListsAllTimes,
    ReplaysAllTimes,
    ReplaysAll,
    NeverHasMore,
    BeginsAgain,
    NamesNoLast,
    CountsThenReplays,
    IncludesTheEnd,
    LooksAtAllTimes,
    MakesInADryRun,
    MakesWhatIsUnwanted,
    RevivesWhatFailed,
    KeepsTheAge,
    MakesNothing,
    LooksOnce,
    LooksThenMakes,
}

struct Flawed {
    inner: MemoryOutbox,
    flaw: Flaw,
    all_have_looked: Arc<Barrier>,
}

impl Flawed {
    fn new(flaw: Flaw) -> Self {
        Self {
            inner: MemoryOutbox::default(),
            flaw,
            all_have_looked: Arc::new(Barrier::new(32)),
        }
    }

    fn period(&self, period: Period, ignored_by: Flaw) -> Period {
        if self.flaw == ignored_by {
            return Period::default();
        }
        let later = |before| before + Duration::from_nanos(1);
        Period {
            before: period.before.map(|before| {
                if self.flaw == Flaw::IncludesTheEnd {
                    later(before)
                } else {
                    before
                }
            }),
            ..period
        }
    }

    fn filter(&self, filter: &DeliveryFilter, ignored_by: Flaw) -> DeliveryFilter {
        let period = self.period(filter.created, ignored_by);
        filter.clone().with_created(period)
    }
}

#[async_trait::async_trait]
impl Outbox for Flawed {
    async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, StoreError> {
        self.inner.enqueue(enqueue).await
    }

    async fn lease(&self, request: &LeaseRequest) -> Result<Leases, StoreError> {
        self.inner.lease(request).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Receipt>, StoreError> {
        self.inner.settle(settlements).await
    }

    async fn next_due(&self) -> Result<Option<SystemTime>, StoreError> {
        self.inner.next_due().await
    }

    async fn list(&self, filter: &DeliveryFilter, page: &Page) -> Result<Vec<Delivery>, StoreError> {
        let filter = self.filter(filter, Flaw::ListsAllTimes);
        self.inner.list(&filter, page).await
    }

    async fn attempts(&self, delivery: &DeliveryId) -> Result<Vec<Attempt>, StoreError> {
        self.inner.attempts(delivery).await
    }

    async fn replay(&self, request: &ReplayRequest) -> Result<Replayed, StoreError> {
        let filter = self.filter(&request.filter, Flaw::ReplaysAllTimes);
        let mut request = ReplayRequest {
            filter,
            ..request.clone()
        };
        match self.flaw {
            Flaw::ReplaysAll => request.limit = usize::MAX,
            Flaw::BeginsAgain => request.after = None,
            Flaw::CountsThenReplays => {
                let dry_run = ReplayRequest {
                    dry_run: true,
                    ..request.clone()
                };
                let counted = self.inner.replay(&dry_run).await?;
                if !request.dry_run {
                    self.all_have_looked.wait();
                    self.inner.replay(&request).await?;
                }
                return Ok(counted);
            }
            _ => {}
        }
        let replayed = self.inner.replay(&request).await?;
        Ok(Replayed {
            has_more: replayed.has_more && self.flaw != Flaw::NeverHasMore,
            last: replayed.last.filter(|_| self.flaw != Flaw::NamesNoLast),
            ..replayed
        })
    }

    async fn replay_missing(
        &self,
        endpoint: &Endpoint,
        request: &MissingRequest,
    ) -> Result<Missing, StoreError> {
        let (mut endpoint, mut request) = (endpoint.clone(), request.clone());
        request.created = self.period(request.created, Flaw::LooksAtAllTimes);
        let mut looked = None;
        match self.flaw {
            Flaw::MakesInADryRun => request.dry_run = false,
            Flaw::MakesNothing => request.dry_run = true,
            Flaw::MakesWhatIsUnwanted => {
                endpoint.events = EventFilter::All;
                endpoint.state = EndpointState::Enabled;
            }
            Flaw::KeepsTheAge => request.now = SystemTime::UNIX_EPOCH,
            Flaw::RevivesWhatFailed => {
                let filter = DeliveryFilter::failed().with_endpoint(endpoint.id.clone());
                let (now, dry_run) = (request.now, request.dry_run);
                let again = ReplayRequest {
                    filter,
                    acknowledged: false,
                    after: None,
                    limit: usize::MAX,
                    now,
                    dry_run,
                };
                self.inner.replay(&again).await?;
            }
            Flaw::LooksThenMakes => {
                let dry_run = MissingRequest {
                    dry_run: true,
                    ..request.clone()
                };
                looked = Some(self.inner.replay_missing(&endpoint, &dry_run).await?);
                self.all_have_looked.wait();
            }
            _ => {}
        }
        let mut missing = self.inner.replay_missing(&endpoint, &request).await?;
        if self.flaw == Flaw::LooksOnce {
            missing.next = None;
        }
        Ok(looked.unwrap_or(missing))
    }
}
