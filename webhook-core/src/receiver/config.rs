//! How a receiver is put together.

use std::{fmt, sync::Arc, time::Duration};

use super::{Dedupe, Receiver, Verifier, endpoint::Settings};
use crate::ports::{Clock, StoreError};

const DAY: Duration = Duration::from_secs(86_400);
const LONGEST_MEMORY: Duration = Duration::from_secs(366 * 86_400);
const MAX_SOURCE_LENGTH: usize = 128;

/// Builds a [`Receiver`]; made by [`Receiver::builder`].
#[must_use]
pub struct ReceiverBuilder {
    settings: Settings,
    longest_retry_gap: Duration,
}

impl ReceiverBuilder {
    pub(super) fn new(
        source: &str,
        verifier: Verifier,
        dedupe: Arc<dyn Dedupe>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let settings = Settings {
            source: source.to_owned(),
            verifier,
            dedupe,
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

    /// How long an event is recognised: 72 hours unless told otherwise, the lifetime of a message at the sender of this suite.
    ///
    /// A repetition after that is a new event, such as the replay of an old dead letter.
    pub fn with_memory(mut self, memory: Duration) -> Self {
        self.settings.memory = memory;
        self
    }

    /// The longest pause that the sender's schedule plans between two attempts, jitter left out: at a sender of this suite
    /// [`Schedule::longest_gap`](crate::sender::Schedule::longest_gap).
    ///
    /// The memory must be half as long again, which is what jitter may add, or else the last attempts are taken for new events.
    pub fn with_longest_retry_gap(mut self, gap: Duration) -> Self {
        self.longest_retry_gap = gap;
        self
    }

    /// How many bytes a body may have: 1 MiB unless told otherwise.
    pub fn with_body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// When the sender is asked to come again while the store cannot be reached: after 5 seconds unless told otherwise.
    pub fn with_retry_after(mut self, pause: Duration) -> Self {
        self.settings.retry_after = pause;
        self
    }

    /// Answers 415 to everything but `application/json` and `application/*+json`.
    pub fn require_json(mut self) -> Self {
        self.settings.json_only = true;
        self
    }

    /// Tells every failure of the store to this log. No answer shows them: the sender gets a 503 without the cause.
    pub fn with_failure_log(mut self, log: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        self.settings.failure_log = Arc::new(log);
        self
    }

    /// Puts the receiver together.
    ///
    /// # Errors
    ///
    /// Every mistake in the settings at once.
    pub fn build(self) -> Result<Receiver, ConfigError> {
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
            Ok(Receiver::new(self.settings))
        } else {
            Err(ConfigError(mistakes))
        }
    }
}

impl fmt::Debug for ReceiverBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Settings that a receiver cannot work with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError(Vec<Mistake>);

/// One mistake in the settings of a receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// The source is not 1 to 128 visible ASCII characters.
    #[error("the source is not 1 to 128 visible ASCII characters")]
    InvalidSource,
    /// Events are recognised for less than 24 hours.
    #[error("events are recognised for less than 24 hours")]
    MemoryBelowOneDay,
    /// Events are recognised for less than one and a half times the longest pause of the schedule.
    #[error(
        "events are recognised for less than one and a half times the longest pause between two attempts"
    )]
    MemoryBelowRetryGap,
    /// Events are recognised for more than a year.
    #[error("events are recognised for more than a year")]
    MemoryAboveOneYear,
    /// Every body is too large.
    #[error("no body is small enough for the limit")]
    NoBodyAllowed,
}

impl ConfigError {
    /// Every mistake that was made.
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
