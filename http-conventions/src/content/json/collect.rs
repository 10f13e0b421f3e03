//! Collects all faults of a document for a type.
//!
//! The first run equals that of plain serde. It decides whether the content is valid.
//!
//! Plain serde ends with the first error. Later runs continue after a value of the wrong JSON type:
//! they record the fault, and put a stand-in in place of the value. An error of the type itself
//! ends the run. The next run repairs the cause: it puts a stand-in in place of the value, adds a
//! missing member, or omits a member with a faulty name. If the type refuses all stand-ins, the
//! value is omitted, and then the value around it.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    marker::PhantomData,
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    fault::{Fault, Faults},
    node::{Node, address},
    path::{Path, is_within, parent_of},
    stand_in::{ATTEMPTS, untyped_trace},
    stop::{About, Cause, Place, Stop, Trace},
};

/// Maximum number of faults.
pub(crate) const MOST_FAULTS: usize = 32;

/// Minimum work for all runs, in visited values.
const LEAST_WORK: usize = 16_384;

/// Maximum number of visits of each value, for documents that need more than the minimum.
const WORK_PER_VALUE: usize = 8;

/// Work of a run in addition to its visited values.
const WORK_PER_RUN: usize = 16;

/// Change of one value in later runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Repair {
    /// Replaces the value by the stand-in with this number.
    StandIn(usize),
    /// Leaves the value out.
    Omit,
}

/// A missing member that later runs add, with the stand-in `attempt` as its value.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) object: usize,
    pub(super) name: &'static str,
    pub(super) attempt: usize,
}

#[derive(Debug, Default)]
struct Repairs {
    values: HashMap<usize, Repair>,
    added: Vec<Added>,
    /// Pointer of the latest repair.
    latest: Option<(String, Target)>,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    Value(usize),
    /// The last of the added members.
    Added,
}

/// State of one run.
pub(super) struct Run<'r> {
    repairs: &'r Repairs,
    /// The first fault ends the run.
    is_first: bool,
    faults: RefCell<Vec<Fault>>,
    work: Cell<usize>,
}

/// Reads a document of `size` values.
pub(super) fn read<T: DeserializeOwned>(
    document: &Value,
    size: usize,
    messages: &[&'static str],
) -> Result<T, Faults> {
    let mut collector = Collector {
        document,
        messages,
        repairs: Repairs::default(),
        faults: Vec::new(),
        is_complete: true,
        work: size.saturating_mul(WORK_PER_VALUE).max(LEAST_WORK),
    };
    if let Ok(value) = collector.run(true) {
        return Ok(value);
    }
    loop {
        let stop = match collector.run(false) {
            Ok(value) if collector.faults.is_empty() => return Ok(value),
            Ok(_) => return Err(collector.into_faults()),
            Err(stop) => stop,
        };
        if !collector.repair(stop) {
            collector.is_complete = false;
            return Err(collector.into_faults());
        }
    }
}

/// Faults and repairs of all runs.
struct Collector<'d> {
    document: &'d Value,
    messages: &'d [&'static str],
    repairs: Repairs,
    faults: Vec<Fault>,
    is_complete: bool,
    /// Work that is left.
    work: usize,
}

impl Collector<'_> {
    fn run<T: DeserializeOwned>(&mut self, is_first: bool) -> Result<T, Stop> {
        let run = Run {
            repairs: &self.repairs,
            is_first,
            faults: RefCell::new(std::mem::take(&mut self.faults)),
            work: Cell::new(self.work),
        };
        let root = Node {
            value: self.document,
            path: Path::Root,
            run: &run,
        };
        let read = run.take_work(WORK_PER_RUN).and_then(|()| root.read(PhantomData));
        self.work = run.work.get();
        self.faults = run.faults.into_inner();
        read
    }

    /// Adds the fault of an error, and registers a repair of its cause for later runs. Returns
    /// `false` if that is not possible.
    fn repair(&mut self, stop: Stop) -> bool {
        let Some((cause, place)) = stop.into_place() else {
            return false;
        };
        if self.repairs.is_latest_within(&place) {
            return self.repairs.escalate(self.document);
        }
        let is_below =
            |known: &Fault| known.pointer() != place.pointer && is_within(known.pointer(), &place.pointer);
        if self.faults.iter().any(is_below) {
            // a stand-in below may be the cause
            self.is_complete = false;
        } else {
            let fault = cause.fault(&place, self.messages);
            if !add(&mut self.faults, place.pointer.clone(), |_| fault) {
                return false;
            }
        }
        self.repairs.repair(&cause, place);
        true
    }

    fn into_faults(mut self) -> Faults {
        // the limit of work can be reached before a fault is found
        if self.faults.is_empty() {
            let unknown = Cause::Exhausted.fault(&Place::default(), self.messages);
            self.faults.push(unknown);
        }
        Faults::new(self.faults, self.is_complete)
    }
}

/// Adds the first fault of a location; `false` if there are too many.
fn add(faults: &mut Vec<Fault>, pointer: String, fault: impl FnOnce(String) -> Fault) -> bool {
    if faults.iter().any(|known| known.pointer() == pointer) {
        return true;
    }
    let has_room = faults.len() < MOST_FAULTS;
    if has_room {
        faults.push(fault(pointer));
    }
    has_room
}

impl<'r> Run<'r> {
    pub(super) const fn is_first(&self) -> bool {
        self.is_first
    }

    pub(super) fn repair(&self, value: &Value) -> Option<Repair> {
        // most runs repair nothing
        if self.repairs.values.is_empty() {
            return None;
        }
        self.repairs.values.get(&address(value)).copied()
    }

    /// Returns `true` if an error below `pointer` is about the latest stand-in.
    pub(super) fn is_of_stand_in(&self, pointer: &str, trace: Trace) -> bool {
        let Some((latest, Target::Value(address))) = &self.repairs.latest else {
            return false;
        };
        let repair = self.repairs.values.get(address);
        let is_same =
            matches!(repair, Some(Repair::StandIn(attempt)) if untyped_trace(*attempt) == Some(trace));
        is_same && is_within(latest, pointer)
    }

    pub(super) fn added(&self) -> std::slice::Iter<'r, Added> {
        self.repairs.added.iter()
    }

    /// Returns `true` if a fault at or below `pointer` is known.
    pub(super) fn has_fault_within(&self, pointer: &str) -> bool {
        self.faults
            .borrow()
            .iter()
            .any(|fault| is_within(fault.pointer(), pointer))
    }

    pub(super) fn record(&self, pointer: String, fault: impl FnOnce(String) -> Fault) -> Result<(), Stop> {
        match !self.is_first && add(&mut self.faults.borrow_mut(), pointer, fault) {
            true => Ok(()),
            false => Err(Stop::new(Cause::Exhausted)),
        }
    }

    /// Subtracts the work of visited values from the work that is left.
    pub(super) fn take_work(&self, values: usize) -> Result<(), Stop> {
        let left = self.work.get().checked_sub(values);
        self.work.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or_else(|| Stop::new(Cause::Exhausted))
    }
}

impl Repairs {
    /// Returns `true` if the latest repair is at or below the place, so that it did not help.
    fn is_latest_within(&self, place: &Place) -> bool {
        let latest = self.latest.as_ref();
        latest.is_some_and(|(latest, _)| is_within(latest, &place.pointer))
    }

    /// Repairs the cause of an error in later runs.
    fn repair(&mut self, cause: &Cause, place: Place) {
        let target = match cause {
            Cause::Missing(name) => {
                self.added.push(Added {
                    object: place.address,
                    name,
                    attempt: 0,
                });
                Target::Added
            }
            _ if place.about == About::Name => {
                self.values.insert(place.address, Repair::Omit);
                Target::Value(place.address)
            }
            _ => {
                self.values.insert(place.address, Repair::StandIn(0));
                Target::Value(place.address)
            }
        };
        self.latest = Some((place.pointer, target));
    }

    /// Tries the next repair of the latest location, or of the location around it.
    fn escalate(&mut self, document: &Value) -> bool {
        let Some((pointer, target)) = &self.latest else {
            return false;
        };
        let next = |attempt: usize| Some(attempt + 1).filter(|next| *next < ATTEMPTS);
        match target {
            Target::Added => {
                if let Some(added) = self.added.last_mut()
                    && let Some(attempt) = next(added.attempt)
                {
                    added.attempt = attempt;
                    return true;
                }
                let _given_up = self.added.pop();
            }
            Target::Value(address) => {
                if let Some(Repair::StandIn(attempt)) = self.values.get(address).copied() {
                    let repair = next(attempt).map_or(Repair::Omit, Repair::StandIn);
                    self.values.insert(*address, repair);
                    // the root cannot be omitted
                    return !pointer.is_empty() || repair != Repair::Omit;
                }
            }
        }
        let around = parent_of(pointer).filter(|parent| !parent.is_empty());
        let Some((around, value)) = around.and_then(|around| Some((around, document.pointer(around)?)))
        else {
            return false;
        };
        self.values.insert(address(value), Repair::Omit);
        self.latest = Some((around.to_owned(), Target::Value(address(value))));
        true
    }
}
