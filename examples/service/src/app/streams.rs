//! Bound on the open streams of each user, in one process.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of open streams for each user and kind of stream. Browsers open six connections
/// to a server; a stream that the browser has left still counts until its second keep-alive, for up
/// to 10 s.
pub(super) const MAX_STREAMS_PER_USER: usize = 12;

/// The open streams of one kind, by user. Clones are the same streams.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenStreams(Arc<Mutex<BTreeMap<String, usize>>>);

/// A place among the open streams of a user. It is free again when this value is dropped.
#[derive(Debug)]
pub(super) struct StreamPermit {
    streams: OpenStreams,
    subject: String,
}

impl OpenStreams {
    /// Takes a place of the user. Returns `None` if all are taken.
    pub(super) fn admit(&self, subject: &str) -> Option<StreamPermit> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.get(subject).copied().unwrap_or_default();
        if count >= MAX_STREAMS_PER_USER {
            return None;
        }
        open.insert(subject.to_owned(), count + 1);
        Some(StreamPermit {
            streams: self.clone(),
            subject: subject.to_owned(),
        })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut entry) = open.entry(std::mem::take(&mut self.subject)) {
            match entry.get().checked_sub(1).filter(|left| *left > 0) {
                Some(left) => *entry.get_mut() = left,
                None => drop(entry.remove()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X9: a user has a bounded number of streams, and others are not affected.
    #[test]
    fn streams_are_bounded_by_user() {
        let streams = OpenStreams::default();
        let mut held: Vec<_> = (0..MAX_STREAMS_PER_USER)
            .map(|_| streams.admit("ada").unwrap())
            .collect();
        assert!(streams.admit("ada").is_none());
        assert!(streams.admit("grace").is_some());
        held.pop();
        held.push(streams.admit("ada").unwrap());
        assert!(streams.admit("ada").is_none());
        drop(held);
        assert!(streams.0.lock().unwrap().is_empty());
    }
}
