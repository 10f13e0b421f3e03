//! A closure on its way to a database thread, and its answer on the way back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Transaction;
use tokio::sync::oneshot;

use super::error::DatabaseError;

/// What a database thread needs to know of a closure: its types are erased.
pub(super) trait Job: Send {
    /// Whether somebody still waits for the answer.
    fn is_awaited(&self) -> bool;

    /// Runs the closure, catching a panic. `true` when what it wrote shall stay.
    fn run(&mut self, transaction: &Transaction<'_>) -> bool;

    /// The closure did not run, or what it wrote was not committed: no success may be answered.
    fn fail(&mut self, error: DatabaseError);

    /// Sends the answer.
    fn answer(self: Box<Self>);
}

pub(super) type BoxedJob = Box<dyn Job>;

/// The outcome of a job, awaited.
pub(super) type JobReceiver<T, E> = oneshot::Receiver<Result<T, E>>;

/// Makes a job of `closure`.
pub(super) fn job<T, E, F>(closure: F) -> (BoxedJob, JobReceiver<T, E>)
where
    T: Send + 'static,
    E: From<DatabaseError> + Send + 'static,
    F: FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (
        Box::new(Call {
            closure: Some(closure),
            outcome: None,
            reply,
        }),
        answer,
    )
}

/// The job, if somebody still waits for its answer.
pub(super) fn awaited(job: BoxedJob) -> Option<BoxedJob> {
    if job.is_awaited() {
        return Some(job);
    }
    shielded(|| drop(job));
    None
}

/// Runs what may run a destructor of the host: its panic must not end the thread that serves everybody.
pub(super) fn shielded(step: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(step)));
}

struct Call<T, E, F> {
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

    fn run(&mut self, transaction: &Transaction<'_>) -> bool {
        let Some(closure) = self.closure.take() else {
            return false;
        };
        // whatever the closure left half done in the database is undone by its savepoint
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
            // the caller may have gone meanwhile, and its answer is dropped here
            shielded(|| drop(reply.send(outcome)));
        }
    }
}
