//! Closures that are sent to a database thread, and their results.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Transaction;
use tokio::sync::oneshot;

use super::error::DatabaseError;

/// A closure with erased types, for a database thread.
pub(super) trait Job: Send {
    /// Returns `true` if the caller still waits for the result.
    fn is_awaited(&self) -> bool;

    /// Returns `true` if the writes must be on the disk before the result is sent.
    fn is_durable(&self) -> bool;

    /// Runs the closure and catches a panic. Returns `true` if its writes are to be kept.
    fn run(&mut self, transaction: &Transaction<'_>) -> bool;

    /// Marks the job as failed: it did not run, or its writes were not committed.
    fn fail(&mut self, error: DatabaseError);

    /// Sends the result.
    fn answer(self: Box<Self>);
}

pub(super) type BoxedJob = Box<dyn Job>;

/// Receives the result of a job.
pub(super) type JobReceiver<T, E> = oneshot::Receiver<Result<T, E>>;

/// Makes a job from `closure`.
pub(super) fn job<T, E, F>(durable: bool, closure: F) -> (BoxedJob, JobReceiver<T, E>)
where
    T: Send + 'static,
    E: From<DatabaseError> + Send + 'static,
    F: FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (
        Box::new(Call {
            durable,
            closure: Some(closure),
            outcome: None,
            reply,
        }),
        answer,
    )
}

/// Returns the job if its caller still waits for the result.
pub(super) fn awaited(job: BoxedJob) -> Option<BoxedJob> {
    if job.is_awaited() {
        return Some(job);
    }
    shielded(|| drop(job));
    None
}

/// Runs a step that may run a destructor of the host: a panic must not end the shared thread.
pub(super) fn shielded(step: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(step)));
}

struct Call<T, E, F> {
    durable: bool,
    closure: Option<F>,
    outcome: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Job for Call<T, E, F>
where
    T: Send,
    E: From<DatabaseError> + Send,
    F: FnOnce(&Transaction<'_>) -> Result<T, E> + Send,
{
    fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    fn is_durable(&self) -> bool {
        self.durable
    }

    fn run(&mut self, transaction: &Transaction<'_>) -> bool {
        let Some(closure) = self.closure.take() else {
            return false;
        };
        // the savepoint undoes partial writes of the closure
        let outcome = catch_unwind(AssertUnwindSafe(|| closure(transaction)))
            .unwrap_or_else(|_panic| Err(DatabaseError::panicked().into()));
        self.outcome.insert(outcome).is_ok()
    }

    fn fail(&mut self, error: DatabaseError) {
        if !matches!(self.outcome, Some(Err(_))) {
            self.outcome = Some(Err(error.into()));
        }
    }

    fn answer(self: Box<Self>) {
        let Self { outcome, reply, .. } = *self;
        if let Some(outcome) = outcome {
            // if the caller has gone, its result is dropped here
            shielded(|| drop(reply.send(outcome)));
        }
    }
}
