//! Builder of a receiver.

use std::{fmt, sync::Arc, time::Duration};

use super::{Dedupe, Intake, LeasedClaims, Receiver, Verify, admission::Settings};
use crate::ports::{Clock, StoreError};

const DAY: Duration = Duration::from_secs(86_400);
const LONGEST_MEMORY: Duration = Duration::from_secs(366 * 86_400);
const MAX_SOURCE_LENGTH: usize = 128;

/// Builder for a [`Receiver`] or an [`Intake`]; see [`Receiver::builder`] and [`Intake::builder`].
#[must_use]
pub struct ReceiverBuilder<S = Arc<dyn Dedupe>> {
    settings: Settings<S>,
    longest_retry_gap: Duration,
}

impl<S> ReceiverBuilder<S> {
    pub(super) fn new(source: &str, verifier: Arc<dyn Verify>, store: S, clock: Arc<dyn Clock>) -> Self {
        let settings = Settings {
            source: source.to_owned(),
            verifier,
            store,
            clock,
            memory: 3 * DAY,
            body_limit: 1024 * 1024,
            retry_after: Duration::from_secs(5),
            json_only: false,
            failure_log: Arc::new(|_| ()),
        };
        Self {
            settings,
            longest_retry_gap: Duration::ZERO,
        }
    }

    /// Sets the time for which duplicates of an event are detected, 24 hours to 366 days. Default:
    /// 72 hours, the lifetime of a message at this suite's sender.
    ///
    /// A delivery after this time counts as a new event, for example the replay of an old dead
    /// letter.
    pub fn with_memory(mut self, memory: Duration) -> Self {
        self.settings.memory = memory;
        self
    }

    /// Sets the longest gap between two attempts of the sender, without jitter. Default: zero, no
    /// check. A sender of this suite reports its gap as
    /// [`Schedule::longest_gap`](crate::sender::Schedule::longest_gap).
    ///
    /// [`build`](Self::build) requires a memory ([`with_memory`](Self::with_memory)) of at least
    /// 1.5 times this gap, because jitter can lengthen the gap by half. With a shorter memory, late
    /// attempts would count as new events.
    pub fn with_longest_retry_gap(mut self, gap: Duration) -> Self {
        self.longest_retry_gap = gap;
        self
    }

    /// Sets the maximum size of a body. Default: 1 MiB.
    pub fn with_body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// Sets the `Retry-After` of the 503 after a store error. Default: 5 seconds.
    pub fn with_retry_after(mut self, pause: Duration) -> Self {
        self.settings.retry_after = pause;
        self
    }

    /// Answers 415 to content types other than `application/json` and `application/*+json`. By
    /// default the content type is not checked.
    pub fn require_json(mut self) -> Self {
        self.settings.json_only = true;
        self
    }

    /// Calls `log` with every store error. The sender gets a 503 without the cause.
    pub fn with_failure_log(mut self, log: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        self.settings.failure_log = Arc::new(log);
        self
    }

    /// Returns the settings, if they are valid.
    fn checked(self) -> Result<Settings<S>, ConfigError> {
        let Settings {
            source,
            memory,
            body_limit,
            ..
        } = &self.settings;
        let needed = self.longest_retry_gap.saturating_add(self.longest_retry_gap / 2);
        let source_is_valid = (1..=MAX_SOURCE_LENGTH).contains(&source.len())
            && source.bytes().all(|byte| byte.is_ascii_graphic());
        let mistakes: Vec<Mistake> = [
            (!source_is_valid, Mistake::InvalidSource),
            (*memory < DAY, Mistake::MemoryBelowOneDay),
            (*memory < needed, Mistake::MemoryBelowRetryGap),
            (*memory > LONGEST_MEMORY, Mistake::MemoryAboveOneYear),
            (*body_limit == 0, Mistake::NoBodyAllowed),
        ]
        .into_iter()
        .filter_map(|(made, mistake)| made.then_some(mistake))
        .collect();
        if mistakes.is_empty() {
            Ok(self.settings)
        } else {
            Err(ConfigError(mistakes))
        }
    }
}

impl ReceiverBuilder {
    /// Builds the receiver.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with all invalid settings at once.
    pub fn build(self) -> Result<Receiver, ConfigError> {
        self.checked().map(Receiver::new)
    }
}

impl ReceiverBuilder<LeasedClaims> {
    /// Sets the time in which the handler finishes an event; after it, the sender's retry is
    /// handled again. Default: 30 seconds.
    pub fn with_lease(mut self, lease: Duration) -> Self {
        self.settings.store.lease = lease;
        self
    }

    /// Builds the intake.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with all invalid settings at once.
    pub fn build(self) -> Result<Intake, ConfigError> {
        self.checked().map(Intake::new)
    }
}

impl<S> fmt::Debug for ReceiverBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Error: the settings of a receiver are invalid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError(Vec<Mistake>);

/// Invalid setting of a receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// The source is not 1 to 128 visible ASCII characters.
    #[error("the source is not 1 to 128 visible ASCII characters")]
    InvalidSource,
    /// The memory for duplicates is shorter than 24 hours.
    #[error("the memory for duplicates is shorter than 24 hours")]
    MemoryBelowOneDay,
    /// The memory for duplicates is shorter than 1.5 times the longest retry gap.
    #[error("the memory for duplicates is shorter than 1.5 times the longest retry gap")]
    MemoryBelowRetryGap,
    /// The memory for duplicates is longer than one year (366 days).
    #[error("the memory for duplicates is longer than one year")]
    MemoryAboveOneYear,
    /// The body limit is zero.
    #[error("the body limit is zero")]
    NoBodyAllowed,
}

impl ConfigError {
    /// All invalid settings.
    #[must_use]
    pub fn mistakes(&self) -> &[Mistake] {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}
