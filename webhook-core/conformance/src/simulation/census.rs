//! What a run came through: how often each crash point was hit, and how much work was done.

use std::collections::BTreeMap;

/// Where a process ends, without a chance to clean up.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum CrashPoint {
    /// A producer, before its event is stored.
    BeforeEventCommit,
    /// A producer, after its event was stored and before it knows.
    AfterEventCommit,
    /// A dispatcher, before it leases.
    BeforeClaim,
    /// A dispatcher, after its leases were stored and before it knows them.
    AfterClaim,
    /// A dispatcher, after it took over leases that another one had lost, and before it knows them.
    InLeaseSweep,
    /// A dispatcher, after a request left and before its answer came.
    AfterSend,
    /// A dispatcher, before an outcome is stored.
    BeforeRecord,
    /// A dispatcher, after an outcome was stored.
    AfterRecord,
    /// A dispatcher, just before or just after a batch of at least two outcomes is stored.
    InGroupCommit,
    /// A dispatcher or the operator, before or after an endpoint is enabled, paused or disabled.
    InStateChange,
    /// The operator, before or after a secret is rotated.
    InRotation,
    /// The operator, before or after failed deliveries are replayed.
    InReplay,
    /// The operator, before or after an endpoint is given what it missed.
    InCatchUp,
    /// The operator, before or after old events are purged.
    InPurge,
    /// A receiver, before an event is claimed and queued.
    BeforeReceipt,
    /// A receiver, after an event was claimed and queued, and before it answered.
    AfterReceipt,
    /// Anybody, wherever it waits.
    AnyAwait,
}

impl CrashPoint {
    /// Every one.
    pub const ALL: [Self; 17] = [
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
        Self::BeforeReceipt,
        Self::AfterReceipt,
        Self::AnyAwait,
    ];
}

/// What happened in a run, or in many.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Census {
    /// How often a process ended at each point.
    pub crashes: BTreeMap<CrashPoint, u64>,
    /// How often a store failed without a crash, with its write done or not.
    pub store_errors: u64,
    /// How often a process stood still for longer than its leases may last.
    pub stalls: u64,
    /// How often a dispatcher reached no store for a while.
    pub partitions: u64,
    /// How often nobody reached the endpoints for a while.
    pub outages: u64,
    /// How often a clock was wrong by minutes.
    pub clock_steps: u64,
    /// How often a delivery killed its dispatcher.
    pub poisonings: u64,
    /// Leases that were taken.
    pub leases: u64,
    /// Leases that were taken over from a dispatcher that had lost them.
    pub takeovers: u64,
    /// Deliveries that were set aside because their dispatchers crashed again and again.
    pub set_aside: u64,
    /// Requests that left.
    pub requests: u64,
    /// Repetitions that a receiver recognised.
    pub duplicates: u64,
    /// Deliveries that were acknowledged.
    pub acknowledged: u64,
    /// Outcomes that came too late and changed nothing.
    pub stale: u64,
    /// Acknowledgements that counted although their lease was lost.
    pub late: u64,
    /// Deliveries that started anew.
    pub replays: u64,
    /// Deliveries that were made for an endpoint which had missed them.
    pub missing: u64,
    /// Events that were purged.
    pub purged: u64,
    /// Secrets that changed.
    pub rotations: u64,
    /// Dispatchers that were told to stop, and did.
    pub drains: u64,
    /// Polls of all tasks.
    pub steps: u64,
}

impl Census {
    /// How often a process ended at this point.
    #[must_use]
    pub fn crashes_at(&self, point: CrashPoint) -> u64 {
        self.crashes.get(&point).copied().unwrap_or_default()
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (point, count) in &other.crashes {
            *self.crashes.entry(*point).or_default() += count;
        }
        self.store_errors += other.store_errors;
        self.stalls += other.stalls;
        self.partitions += other.partitions;
        self.outages += other.outages;
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

    /// Everything that delayed somebody through no fault of an endpoint.
    pub(super) fn faults(&self) -> u64 {
        let crashes: u64 = self.crashes.values().sum();
        crashes + self.store_errors + self.stalls + self.partitions + self.outages + self.drains
    }
}
