//! Threads with one connection each, which take jobs from one queue.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, TransactionBehavior};

use super::error::{DatabaseError, DatabaseErrorKind};
use super::job::{BoxedJob, awaited, shielded};
use super::writer::Writer;

/// A queue and its threads. Dropping it blocks until the queued jobs with a waiting caller are
/// done.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Option<Sender<BoxedJob>>,
    threads: Vec<JoinHandle<()>>,
}

impl Worker {
    /// Starts one thread that commits many jobs together.
    pub(super) fn writer(mut writer: Writer) -> Result<Self, DatabaseError> {
        let (jobs, queue) = channel();
        let thread = spawn("sqlite-writer", move || {
            let mut next = None;
            while let Some(first) = next.take().or_else(|| queue.recv().ok()) {
                shielded(|| next = writer.commit_together(first, &queue));
            }
        })?;
        Ok(Self {
            jobs: Some(jobs),
            threads: vec![thread],
        })
    }

    /// Starts one thread per connection; each job sees one snapshot.
    pub(super) fn readers(connections: Vec<Connection>) -> Result<Self, DatabaseError> {
        let (jobs, queue) = channel::<BoxedJob>();
        let queue = Arc::new(Mutex::new(queue));
        let threads = connections.into_iter().map(|mut connection| {
            let queue = Arc::clone(&queue);
            spawn("sqlite-reader", move || {
                while let Ok(job) = { queue.lock().unwrap_or_else(PoisonError::into_inner).recv() } {
                    shielded(|| answer_from_a_snapshot(&mut connection, job));
                }
            })
        });
        Ok(Self {
            threads: threads.collect::<Result<_, _>>()?,
            jobs: Some(jobs),
        })
    }

    /// Queues a job. If the threads have ended the job is dropped, and its caller gets an error.
    pub(super) fn submit(&self, job: BoxedJob) {
        if let Some(jobs) = &self.jobs {
            drop(jobs.send(job));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // the last handle may be dropped inside a closure on this very thread
            if thread.thread().id() != thread::current().id() {
                drop(thread.join());
            }
        }
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, DatabaseError> {
    let failed = |error: io::Error| DatabaseError::new(DatabaseErrorKind::Unavailable, error);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(failed)
}

fn answer_from_a_snapshot(connection: &mut Connection, job: BoxedJob) {
    let Some(mut job) = awaited(job) else { return };
    match connection.transaction_with_behavior(TransactionBehavior::Deferred) {
        Ok(snapshot) => {
            job.run(&snapshot);
        }
        Err(error) => job.fail(error.into()),
    }
    job.answer();
}
