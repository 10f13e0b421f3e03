//! How many resolvers of one operation run at once.
//!
//! A resolver holds its place only while it runs itself, not while what it returned is written: no resolver waits for another
//! with its place in hand, so that any limit lets everything through in the end.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// The places of one operation.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Who waits, first come first served.
    waiting: VecDeque<(u64, Waker)>,
    /// Who was given a place and has not taken it up yet.
    granted: Vec<u64>,
    next: u64,
}

impl State {
    /// Where `id` waits; numbers only grow, so those who wait are in their order.
    fn place(&self, id: u64) -> Option<usize> {
        self.waiting
            .binary_search_by_key(&id, |(waiting, _)| *waiting)
            .ok()
    }
}

/// A place among the running resolvers; dropping it gives it back.
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

/// Somebody who waits for a place.
struct Ticket<'g> {
    gate: &'g Gate,
    /// `None` before it waits, and when it has its place.
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
            // the place was given and never taken up: the next one gets it
            self.gate.leave();
        }
    }
}
