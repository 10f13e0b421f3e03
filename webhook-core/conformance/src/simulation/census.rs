//! Counters of a run: crashes by point, faults, and completed work.

use std::collections::BTreeMap;

/// Point at which a process crashes without a chance to clean up.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum CrashPoint {
    /// Producer, before its event is stored.
    BeforeEventCommit,
    /// Producer, after its event was stored and before the result arrives.
    AfterEventCommit,
    /// Dispatcher, before it leases.
    BeforeClaim,
    /// Dispatcher, after its leases were stored and before the result arrives.
    AfterClaim,
    /// Dispatcher, after it took over lost leases and before the result arrives.
    InLeaseSweep,
    /// Dispatcher, after a request was sent and before the response arrives.
    AfterSend,
    /// Dispatcher, before an outcome is stored.
    BeforeRecord,
    /// Dispatcher, after an outcome was stored.
    AfterRecord,
    /// Dispatcher, directly before or after a batch of at least two outcomes is stored.
    InGroupCommit,
    /// Dispatcher or operator, before or after an endpoint is enabled, paused or disabled.
    InStateChange,
    /// Operator, before or after a secret is rotated.
    InRotation,
    /// Operator, before or after failed deliveries are replayed.
    InReplay,
    /// Operator, before or after missing deliveries are created.
    InCatchUp,
    /// Operator, before or after old events are purged.
    InPurge,
    /// Dispatcher, after it joined and before the result arrives.
    InJoin,
    /// Dispatcher, before or after an instance is removed.
    InLeave,
    /// Receiver, before an event is claimed and queued.
    BeforeReceipt,
    /// Receiver, after an event was claimed and queued and before it responds.
    AfterReceipt,
    /// Any process, at any await point.
    AnyAwait,
}

impl CrashPoint {
    /// All points.
    pub const ALL: [Self; 19] = [
        Self::BeforeEventCommit,
        Self::AfterEventCommit,
        Self::BeforeClaim,
        Self::AfterClaim,
        Self::InLeaseSweep,
        Self::AfterSend,
        Self::BeforeRecord,
        Self::AfterRecord,
        Self::InGroupCommit,
        Self::InStateChange,
        Self::InRotation,
        Self::InReplay,
        Self::InCatchUp,
        Self::InPurge,
        Self::InJoin,
        Self::InLeave,
        Self::BeforeReceipt,
        Self::AfterReceipt,
        Self::AnyAwait,
    ];
}

/// Counters of one run or of several.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Census {
    /// Number of crashes at each point.
    pub crashes: BTreeMap<CrashPoint, u64>,
    /// Number of store errors without a crash, after the write or without it.
    pub store_errors: u64,
    /// Number of times a process stalled for longer than its leases last.
    pub stalls: u64,
    /// Number of times a dispatcher was disconnected from the stores.
    pub partitions: u64,
    /// Number of outages of the endpoint store.
    pub outages: u64,
    /// Number of store calls that never returned, plus the number of times that store connections
    /// froze.
    pub hangs: u64,
    /// Number of times a clock was an hour or a day wrong.
    pub clock_leaps: u64,
    /// Number of times a clock was wrong by minutes.
    pub clock_steps: u64,
    /// Number of crashes that a delivery caused.
    pub poisonings: u64,
    /// Number of leases.
    pub leases: u64,
    /// Number of leases that were taken over after they were lost.
    pub takeovers: u64,
    /// Number of deliveries that were quarantined.
    pub set_aside: u64,
    /// Number of requests that were sent.
    pub requests: u64,
    /// Number of duplicates that receivers detected.
    pub duplicates: u64,
    /// Number of acknowledged deliveries.
    pub acknowledged: u64,
    /// Number of outcomes that came too late and changed nothing.
    pub stale: u64,
    /// Number of acknowledgements that counted although their lease was lost.
    pub late: u64,
    /// Number of replayed deliveries.
    pub replays: u64,
    /// Number of missing deliveries that were created.
    pub missing: u64,
    /// Number of purged events.
    pub purged: u64,
    /// Number of rotations.
    pub rotations: u64,
    /// Number of dispatchers that stopped on request.
    pub drains: u64,
    /// Number of polls of all tasks.
    pub steps: u64,
}

impl Census {
    /// Number of crashes at `point`.
    #[must_use]
    pub fn crashes_at(&self, point: CrashPoint) -> u64 {
        self.crashes.get(&point).copied().unwrap_or_default()
    }

    /// Adds the counters of `other`.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        for (point, count) in &other.crashes {
            *self.crashes.entry(*point).or_default() += count;
        }
        self.store_errors += other.store_errors;
        self.stalls += other.stalls;
        self.partitions += other.partitions;
        self.outages += other.outages;
        self.hangs += other.hangs;
        self.clock_leaps += other.clock_leaps;
        self.clock_steps += other.clock_steps;
        self.poisonings += other.poisonings;
        self.leases += other.leases;
        self.takeovers += other.takeovers;
        self.set_aside += other.set_aside;
        self.requests += other.requests;
        self.duplicates += other.duplicates;
        self.acknowledged += other.acknowledged;
        self.stale += other.stale;
        self.late += other.late;
        self.replays += other.replays;
        self.missing += other.missing;
        self.purged += other.purged;
        self.rotations += other.rotations;
        self.drains += other.drains;
        self.steps += other.steps;
        self
    }

    /// Number of faults, other than failing endpoints, that may delay a delivery.
    pub(super) fn faults(&self) -> u64 {
        let crashes: u64 = self.crashes.values().sum();
        crashes + self.store_errors + self.stalls + self.partitions + self.outages + self.hangs + self.drains
    }
}
