//! Concurrency limit for the resolvers of one operation.
//!
//! A resolver holds its permit only while it runs, not while its value is written. A resolver that
//! holds a permit never waits for another resolver, so the limit cannot cause a deadlock.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Semaphore of one operation, first in, first out.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Waiting tickets in order of arrival.
    waiting: VecDeque<(u64, Waker)>,
    /// Tickets that were granted a permit and have not been polled since.
    granted: Vec<u64>,
    next: u64,
}

impl State {
    /// Index of the ticket `id`; ids increase, so `waiting` is sorted.
    fn place(&self, id: u64) -> Option<usize> {
        self.waiting
            .binary_search_by_key(&id, |(waiting, _)| *waiting)
            .ok()
    }
}

/// Permit of a running resolver, released on drop.
#[derive(Debug)]
pub struct Permit<'g> {
    gate: &'g Gate,
}

impl Gate {
    pub(crate) fn new(places: usize) -> Self {
        let state = State {
            free: places.max(1),
            waiting: VecDeque::new(),
            granted: Vec::new(),
            next: 0,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    pub(crate) async fn enter(&self) -> Permit<'_> {
        let mut ticket = Ticket { gate: self, id: None };
        poll_fn(|cx| ticket.poll(cx.waker())).await;
        Permit { gate: self }
    }

    fn leave(&self) {
        let mut state = self.lock();
        let Some((id, waker)) = state.waiting.pop_front() else {
            state.free += 1;
            return;
        };
        state.granted.push(id);
        drop(state);
        waker.wake();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.gate.leave();
    }
}

/// Request for a permit.
struct Ticket<'g> {
    gate: &'g Gate,
    /// `None` before the first poll and after the permit is granted.
    id: Option<u64>,
}

impl Ticket<'_> {
    fn poll(&mut self, waker: &Waker) -> Poll<()> {
        let mut state = self.gate.lock();
        let Some(id) = self.id else {
            if state.free > 0 {
                state.free -= 1;
                return Poll::Ready(());
            }
            let id = state.next;
            state.next += 1;
            state.waiting.push_back((id, waker.clone()));
            self.id = Some(id);
            return Poll::Pending;
        };
        if let Some(at) = state.granted.iter().position(|granted| *granted == id) {
            state.granted.swap_remove(at);
            self.id = None;
            return Poll::Ready(());
        }
        let waiting = state.place(id).and_then(|at| state.waiting.get_mut(at));
        if let Some((_, known)) = waiting {
            known.clone_from(waker);
        }
        Poll::Pending
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut state = self.gate.lock();
        if let Some(at) = state.place(id) {
            state.waiting.remove(at);
        }
        let granted = state.granted.iter().position(|granted| *granted == id);
        if let Some(at) = granted {
            state.granted.swap_remove(at);
            drop(state);
            // granted, but never polled: pass the permit on
            self.gate.leave();
        }
    }
}
