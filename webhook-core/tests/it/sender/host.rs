//! Host that runs a dispatcher as a service does.

use std::{
    future::{Future, poll_fn},
    ops::ControlFlow,
    pin::Pin,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use tokio::sync::Notify;
use webhook_core::sender::{Dispatcher, Disposition, Handled};

/// Arguments of a host for [`Dispatcher::run`].
#[derive(Default)]
pub(super) struct Host {
    pub(super) wake: Notify,
    pub(super) is_stopping: AtomicBool,
    pub(super) asked: Mutex<Vec<Option<SystemTime>>>,
    pub(super) handled: Mutex<Vec<Handled>>,
    pub(super) errors: AtomicUsize,
}

impl Host {
    pub(super) fn run(&self, dispatcher: &Dispatcher) -> impl Future<Output = ()> {
        let wait = |next_due| {
            self.asked.lock().unwrap().push(next_due);
            async {
                self.wake.notified().await;
                if self.is_stopping.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }
        };
        dispatcher.run(wait, |told| match told {
            Ok(handled) => self.handled.lock().unwrap().push(handled),
            Err(_) => drop(self.errors.fetch_add(1, Ordering::Relaxed)),
        })
    }

    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Time of the next wake-up that the dispatcher passed last.
    pub(super) fn next_due(&self) -> Option<SystemTime> {
        *self.asked.lock().unwrap().last().unwrap()
    }

    pub(super) fn handled(&self) -> Vec<(String, Disposition)> {
        let handled = self.handled.lock().unwrap();
        handled
            .iter()
            .map(|handled| (handled.delivery.to_string(), handled.disposition))
            .collect()
    }
}

/// Polls a run until it waits.
pub(super) async fn proceed(run: &mut Pin<&mut impl Future<Output: std::fmt::Debug>>) {
    poll_fn(|context| {
        assert!(run.as_mut().poll(context).is_pending(), "it runs on");
        std::task::Poll::Ready(())
    })
    .await;
}

pub(super) fn acked(delivery: &str) -> (String, Disposition) {
    (delivery.to_owned(), Disposition::Acked)
}
